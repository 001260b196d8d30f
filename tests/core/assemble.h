// Small code objects of any version, for tests.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>

#include "decode/opcodes.h"
#include "depyf/code_object.h"

namespace depyf {

inline std::uint8_t byte_of(Version version, Opcode opcode) {
  const OpcodeTable& table = *opcode_table(version);
  for (std::size_t byte = 0; byte < table.size(); ++byte) {
    if (table[byte].opcode == opcode) return static_cast<std::uint8_t>(byte);
  }
  FAIL("no such opcode in this version");
  return 0;
}

struct Unit {
  Opcode opcode;
  std::uint8_t arg = 0;
};

// Returns a code object of these units, with the inline caches of the version.
inline CodeObject assemble(Version version, std::initializer_list<Unit> units) {
  CodeObject code;
  code.version = version;
  code.stacksize = 10;
  code.names = {"n0", "n1", "n2"};
  code.varnames = {"v0", "v1"};
  code.constants.resize(3);
  for (const Unit& unit : units) {
    std::uint8_t byte = byte_of(version, unit.opcode);
    code.bytecode.insert(code.bytecode.end(), {byte, unit.arg});
    code.bytecode.resize(code.bytecode.size() + 2u * (*opcode_table(version))[byte].caches);
  }
  return code;
}

}  // namespace depyf
