// Code objects out of .pyc files of CPython 3.8 to 3.15.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace depyf {

struct CodeObject;

struct LoadedPyc {
  std::shared_ptr<const CodeObject> code;  // of the module; null where there is an error
  bool hash_based = false;                 // PEP 552: checked by the hash of the source, not by its time
  std::string error;
  std::size_t error_offset = 0;            // in bytes, into `file`
};

// `file`: all bytes of the .pyc, which may be hostile.
LoadedPyc load_pyc(std::string_view file);

}  // namespace depyf
