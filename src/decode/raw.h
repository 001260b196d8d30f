// Bytecode as a list of CPython's own instructions: EXTENDED_ARG is merged, caches are left out, and targets are in
// bytes.
#pragma once

#include <vector>

#include "decode/opcodes.h"
#include "support/result.h"

namespace depyf {

struct RawInstruction {
  Opcode opcode = Opcode::none;
  bool is_jump = false;
  bool is_target = false;      // of some jump or exception handler
  std::uint32_t arg = 0;
  std::uint32_t offset = 0;    // of the first EXTENDED_ARG if there is one
  std::uint32_t at = 0;        // of the opcode itself
  std::uint32_t end = 0;       // behind the caches
  std::uint32_t target = 0;    // of a jump: index of an instruction
};

// Returns the instructions, or an error if a jump or handler does not lead to the start of an instruction. An opcode
// behind its EXTENDED_ARG is no start.
Result<std::vector<RawInstruction>> read_raw(const CodeObject& code);

// Returns the index of the first instruction whose opcode lies at `offset` or later.
std::size_t first_at(const std::vector<RawInstruction>& raws, std::uint32_t offset);

// Returns the index of the instruction that starts at `offset`, or raws.size() if none does.
std::size_t starts_at(const std::vector<RawInstruction>& raws, std::uint32_t offset);

}  // namespace depyf
