// A .pyc file as a tree of marshal objects that can be changed and written again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace depyf::fuzz {

// A marshal object. References in a file are expanded when it is read; objects with `shared` are written as references
// again.
struct Object {
  char type = 'N';       // the type in marshal; '#': four bytes between the other fields of a code object
  std::string payload;  // a leaf's bytes behind its type and size; a code object's leading integers
  std::vector<Object> items;
  int shared = 0;  // from 1: equal numbers are one object, written once and then referred to; 0: not shared
};

// The indices in `items` of a code object's fields. The indices of 3.8 to 3.10 differ from those of later versions.
struct CodeFields {
  // -1 if the version has no such field
  int integers, bytecode, constants, names, variables, kinds, filename, name, qualname, lines, exceptions;
};
const CodeFields& code_fields(int minor);

struct Pyc {
  int minor = 0;
  std::string header;
  Object code;
};

// Returns nothing if the file is no .pyc of a compiler: the reader supports only marshal types that compilers write.
std::optional<Pyc> read_pyc(std::string_view file);
std::string write_pyc(const Pyc& pyc);

}  // namespace depyf::fuzz
