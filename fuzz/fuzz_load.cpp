// Loads any bytes as a .pyc file: the loader must return an error or a code object within the limits of time and
// memory.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "depyf/load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  depyf::LoadedPyc loaded = depyf::load_pyc({reinterpret_cast<const char*>(data), size});
  if (!loaded.code && (loaded.error.empty() || loaded.error_offset > size)) std::abort();
  return 0;
}
