// Lists the version-neutral instructions of a code object as plain rows, for tests and for readers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace depyf {

struct CodeObject;

// One instruction in the form that is the same for all versions of CPython.
struct DisassembledInstruction {
  std::string_view op;
  std::int32_t arg = 0, aux = 0;
  std::uint32_t offset = 0;    // the offset of the instruction in the bytecode, in bytes
  std::int32_t target = -1;    // the index of the instruction to which the instruction jumps; -1 if it does not jump
  std::int32_t line = -1;
  // The numbers of stack slots that the instruction pops and pushes, when it falls through and when it jumps.
  std::int32_t pops = 0, pushes = 0, jump_pops = 0, jump_pushes = 0;
};

struct Disassembly {
  std::vector<DisassembledInstruction> instructions;
  std::string error;           // the reason why the bytecode is malformed; empty if it is not
  std::size_t error_offset = 0;
};

Disassembly disassemble(const CodeObject& code);

// Returns the basic blocks of `code`, and of the code objects in it, as a graph in the language DOT. The edge from a
// protected statement to its exception handler is dashed.
std::string control_flow_dot(const CodeObject& code);

}  // namespace depyf
