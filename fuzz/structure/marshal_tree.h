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
  char type = 'N';       // of marshal; '#': four bytes of a code object that stand between its other fields
  std::string payload;  // of a leaf: what follows the byte of the type, without a size; of code: its leading integers
  std::vector<Object> items;
  int shared = 0;  // an object of this number, counted from 1: written once and referred to where it stands again
};

// Where the fields of a code object stand in `items`. They differ between 3.8 to 3.10 and later versions.
struct CodeFields {
  int integers, bytecode, constants, names, variables, kinds, filename, name, qualname, lines, exceptions;  // -1: none
};
const CodeFields& code_fields(int minor);

struct Pyc {
  int minor = 0;
  std::string header;
  Object code;
};

// None where the file is not one that a compiler wrote.
std::optional<Pyc> read_pyc(std::string_view file);
std::string write_pyc(const Pyc& pyc);

}  // namespace depyf::fuzz
