// The instructions of a code object that have a target.
#pragma once
#include <cstddef>

#include "decode/instruction.h"
#include "support/table.h"
namespace depyf {

// Instructions with a target, in ascending order. About one instruction in ten has a target, so a pass that looks at
// jumps alone walks over this list instead of over all instructions.
using Jumps = Table<InstructionIndex>;

// In most code, at least this many instructions lie between two jumps, so lists of jumps reserve memory for one jump
// per this many instructions.
constexpr std::size_t instructions_per_jump = 8;

}  // namespace depyf
