// Decompiles any code object that can be loaded: the pipeline must produce source for any bytecode.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "depyf/decompile.h"
#include "depyf/load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  depyf::LoadedPyc loaded = depyf::load_pyc({reinterpret_cast<const char*>(data), size});
  if (!loaded.code) return 0;
  depyf::Options options;
  options.limits = depyf::Limits::of_file(size);
  std::string source;
  try {
    source = depyf::decompile(*loaded.code, options).source;
  } catch (const std::length_error&) {
    return 0;  // the source would exceed the limit for a file of this size
  }
  if (!source.empty() && !source.ends_with('\n')) std::abort();  // an empty module has an empty source
  return 0;
}
