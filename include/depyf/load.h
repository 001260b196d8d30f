// Loads code objects from .pyc files of CPython 3.8 to 3.15.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace depyf {

struct CodeObject;

// The result of loading a file.
struct LoadedPyc {
  std::shared_ptr<const CodeObject> code;  // the code of the module; null if there is an error
  bool hash_based = false;                 // PEP 552: validated by the hash of the source instead of its time
  std::string error;                       // empty if there is no error
  std::size_t error_offset = 0;            // the place of the error in the file, in bytes
};

// Loads a module's code object. `file` contains all bytes of the .pyc file, which may be hostile.
LoadedPyc load_pyc(std::string_view file);

}  // namespace depyf
