// Any code object that loads goes through the whole pipeline, which produces source whatever the bytecode is.
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
    return 0;  // longer than a file of this size may become
  }
  if (!source.empty() && !source.ends_with('\n')) std::abort();  // an empty module has an empty source
  return 0;
}
