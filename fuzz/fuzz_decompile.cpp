// Any code object that loads through the whole pipeline: source comes out, whatever the bytecode.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "depyf/decompile.h"
#include "depyf/load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  depyf::LoadedPyc loaded = depyf::load_pyc({reinterpret_cast<const char*>(data), size});
  if (!loaded.code) return 0;
  const std::string source = depyf::decompile(*loaded.code).source;
  if (!source.empty() && !source.ends_with('\n')) std::abort();  // an empty module has an empty source
  return 0;
}
