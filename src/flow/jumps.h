// Finds the instructions of a code object after which control may continue elsewhere than at the next instruction.
#pragma once
#include <cstddef>

#include "decode/instruction.h"
#include "decode/op.h"
#include "decode/op_table.h"
#include "flow/surveyed_ops.h"
#include "support/table.h"
namespace depyf {

// Instructions with a target, in ascending order. About one instruction in ten has a target, so a pass that looks at
// jumps alone walks over this list instead of over all instructions.
using Jumps = Table<InstructionIndex>;

// In most code, at least this many instructions lie between two jumps, so lists of jumps reserve memory for one jump
// per this many instructions.
constexpr std::size_t instructions_per_jump = 8;

inline constexpr OpTable<bool> falling_ops(
    true, {{{Op::jump_, Op::return_value_, Op::raise_, Op::reraise_, Op::end_async_for_, Op::unreachable_}, false}});

// True if control may fall through from `op` to the next instruction.
constexpr bool falls_through(Op op) { return falling_ops[op]; }

// The turns of a code object, which are the instructions that jump or do not fall through, and its surveyed operations.
// `find_turns` collects all of them in one pass over the instructions.
struct Turns {
  SurveyedOps ops;
  Jumps jumps;
  // The instructions that do not fall through, in ascending order.
  Table<InstructionIndex> stops;
};

Turns find_turns(Row<const Instruction, InstructionIndex> code);

}  // namespace depyf
