// Searches code for the instructions whose operations are in a set.
#pragma once

#include <algorithm>

#include "decode/instruction.h"
#include "decode/op_table.h"
#include "support/table.h"

namespace depyf {

// Calls `look` with the index of each instruction for whose operation `wanted` is true, in ascending order. `look` may
// change instructions.
template <class Look>
void for_each_marked(Row<const Instruction, InstructionIndex> code, const OpTable<bool>& wanted, Look look) {
  const auto is_wanted = [&](const Instruction& instruction) { return wanted[instruction.op]; };
  for (auto at = code.begin(); (at = std::find_if(at, code.end(), is_wanted)) != code.end(); ++at)
    look(int(at - code.begin()));
}

}  // namespace depyf
