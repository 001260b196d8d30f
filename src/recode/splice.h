// Replaces instructions of CPython by any number of new instructions.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "decode/raw.h"
#include "depyf/constant.h"

namespace depyf {

struct NewInstruction {
  Opcode opcode = Opcode::NOP;
  std::uint32_t arg = 0;
};

// Maps the index of an instruction, in the result of `read_raw`, to the new instructions that replace it. An empty list
// stands for a NOP.
using Replacements = std::map<std::size_t, std::vector<NewInstruction>>;

// Replaces instructions that are no jumps. If all new instructions fit into the places of the instructions that they
// replace, the rest of each place is filled with NOP, and no other instruction moves. If the new instructions do not
// fit, all code is laid out anew, with its jumps, positions and exception table. `raws` is the result of `read_raw` for
// `code`. Returns false and leaves `code` unchanged if the bytecode would be too large.
bool replace_instructions(CodeObject& code, const std::vector<RawInstruction>& raws, const Replacements& replacements);

// Does the same as `replace_instructions`, but lays all code out anew even if the new instructions fit.
bool lay_out_anew(CodeObject& code, const std::vector<RawInstruction>& raws, const Replacements& replacements);

}  // namespace depyf
