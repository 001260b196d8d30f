// A .pyc file as a tree of marshal objects that can be changed and written again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace depyf::fuzz {

// References are expanded when a file is read; `shared` makes new ones.
struct Object {
  char type = 'N';       // the type in marshal; '#': four bytes between the other fields of a code object
  std::string payload;  // of a leaf: the bytes behind its type, without a size; of code: its leading integers
  std::vector<Object> items;
  int shared = 0;  // the number of an object that is written once and then referred to, from 1; 0 for others
};

// The indices in `items` of a code object's fields. Those of 3.8 to 3.10 differ from those of later versions.
struct CodeFields {
  int integers, bytecode, constants, names, variables, kinds, filename, name, qualname, lines, exceptions;  // -1: none
};
const CodeFields& code_fields(int minor);

struct Pyc {
  int minor = 0;
  std::string header;
  Object code;
};

// Returns nothing if the file was not written by a compiler.
std::optional<Pyc> read_pyc(std::string_view file);
std::string write_pyc(const Pyc& pyc);

}  // namespace depyf::fuzz
