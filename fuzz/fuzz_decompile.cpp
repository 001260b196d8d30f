// Any code object that loads through the whole pipeline: source comes out, whatever the bytecode.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "depyf/decompile.h"
#include "depyf/load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  depyf::LoadedPyc loaded = depyf::load_pyc({reinterpret_cast<const char*>(data), size});
  if (!loaded.code) return 0;
  if (!depyf::decompile(*loaded.code).source.ends_with('\n')) std::abort();
  return 0;
}
