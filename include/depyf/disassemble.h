// The version-neutral instructions of a code object as plain rows, for tests and for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace depyf {

struct CodeObject;

struct DisassembledInstruction {
  std::string_view op;
  std::int32_t arg = 0, aux = 0;
  std::uint32_t offset = 0;    // in bytes
  std::int32_t target = -1;    // index of an instruction
  std::int32_t line = -1;
  // What the instruction takes from the stack and puts there, where it falls through and where it jumps.
  std::int32_t pops = 0, pushes = 0, jump_pops = 0, jump_pushes = 0;
};

struct Disassembly {
  std::vector<DisassembledInstruction> instructions;
  std::string error;           // empty unless the bytecode is malformed
  std::size_t error_offset = 0;
};

Disassembly disassemble(const CodeObject& code);

// The basic blocks of `code` and of the code objects in it with the edges between them, as a graph in DOT: dashed where an
// exception leaves a protected statement.
std::string control_flow_dot(const CodeObject& code);

}  // namespace depyf
