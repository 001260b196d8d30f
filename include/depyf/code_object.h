// Defines a code object of CPython 3.8 to 3.15 as plain data, independent of any running interpreter.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "depyf/constant.h"
#include "depyf/exception_entry.h"
#include "depyf/position.h"

namespace depyf {

// The fields have the meaning and the names of the attributes `co_*` of a Python code object.
struct CodeObject {
  enum Flag : std::uint32_t {
    optimized = 0x1,
    new_locals = 0x2,
    varargs = 0x4,
    varkeywords = 0x8,
    nested = 0x10,
    generator = 0x20,
    coroutine = 0x80,
    iterable_coroutine = 0x100,
    async_generator = 0x200,
    future_annotations = 0x1000000,
    has_docstring = 0x4000000,  // from 3.14
    method = 0x8000000,
  };
  Version version;
  std::string name, qualname, filename;
  std::int32_t argcount = 0, posonlyargcount = 0, kwonlyargcount = 0, stacksize = 0, firstlineno = 0;
  std::uint32_t flags = 0;
  std::vector<std::uint8_t> bytecode;  // the bytes of co_code, without specialised instructions, and with inline caches
  std::vector<Constant> constants;
  std::vector<std::string> names, varnames, cellvars, freevars;
  std::vector<Position> positions;  // one position for each code unit; may be shorter than the bytecode
  std::vector<ExceptionEntry> exceptions;

  // Returns the number of all parameters, including `*args` and `**kwargs`. The names of the parameters are the first
  // names in `varnames`. A malformed file may state any number of parameters.
  std::int64_t argument_count() const {
    return std::int64_t{argcount} + kwonlyargcount + ((flags & varargs) != 0) + ((flags & varkeywords) != 0);
  }
};

}  // namespace depyf
