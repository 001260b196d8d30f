// Instructions of CPython as a list in which some may be replaced by others, of any length.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "decode/raw.h"
#include "depyf/code_object.h"

namespace depyf {

struct NewInstruction {
  Opcode opcode = Opcode::NOP;
  std::uint32_t arg = 0;
};

// What stands in the place of instructions, by their index in `read_raw`; none: an instruction that does nothing.
using Replacements = std::map<std::size_t, std::vector<NewInstruction>>;

// Replaces instructions that are no jumps. Where there is room for all, what is left of their places is filled with NOP
// and nothing else moves; else all the code moves, with its jumps, its positions and its exception table. `raws`: what
// `read_raw` gives for `code`. Returns false, with `code` as it was, where the bytecode would be too large.
bool replace_instructions(CodeObject& code, const std::vector<RawInstruction>& raws, const Replacements& replacements);

// The same, with all the code moved whether there is room or not.
bool lay_out_anew(CodeObject& code, const std::vector<RawInstruction>& raws, const Replacements& replacements);

}  // namespace depyf
