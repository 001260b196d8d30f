// Finds the instructions of a code object after which control may continue elsewhere than at the next instruction.
#pragma once
#include "decode/instruction.h"
#include "decode/op.h"
#include "decode/op_table.h"
#include "flow/indices.h"
#include "flow/surveyed_ops.h"
#include "support/table.h"
namespace depyf {

// Instructions with a target, in ascending order. About one instruction in ten has a target, so a pass that looks at
// jumps alone walks over the list `Jumps` instead of over all instructions.
using Jumps = Indices;

inline constexpr OpTable<bool> falling_ops(
    true, {{{Op::jump_, Op::return_value_, Op::raise_, Op::reraise_, Op::end_async_for_, Op::unreachable_}, false}});

// True if control may fall through from `op` to the next instruction.
constexpr bool falls_through(Op op) { return falling_ops[op]; }

// The turns of a code object (the instructions that jump or do not fall through) and the operations of `surveyed_ops`
// that the code object contains. `find_turns` collects all members of `Turns` in one pass over the instructions.
struct Turns {
  SurveyedOps ops;
  Jumps jumps;
  // The instructions that do not fall through, in ascending order.
  Indices stops;
};

Turns find_turns(Row<const Instruction, InstructionIndex> code);

}  // namespace depyf
