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
  bool hash_based = false;                 // true if the file states the hash of its source (PEP 552)
  std::string error;                       // the reason why the file could not be loaded; empty if it was loaded
  std::size_t error_offset = 0;            // the place of the error in the file, in bytes
};

// Loads a module's code object. `file` contains all bytes of the .pyc file, which may be hostile.
LoadedPyc load_pyc(std::string_view file);

}  // namespace depyf
