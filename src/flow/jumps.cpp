#include "flow/jumps.h"

#include <array>

#include "decode/op_info.h"

namespace depyf {
namespace {

// Indexed by operation: true if an instruction with the operation may have a target or does not fall through, or if the
// operation is one of `surveyed_ops`. `find_turns` skips all other instructions, which are the majority.
constexpr std::array<bool, op_count> noted_ops = [] {
  std::array<bool, op_count> noted{};
  for (std::size_t index = 0; index < op_count; ++index) {
    const Op op = static_cast<Op>(index);
    noted[index] = info_of(op).control != Control::next || !falls_through(op) || surveyed_ops.has(op);
  }
  return noted;
}();

}  // namespace

// `turns.ops` may also contain operations of jumps and stops that are not in `surveyed_ops`; `SurveyedOps::has` does
// not compile for them.
Turns find_turns(Row<const Instruction, InstructionIndex> code) {
  Turns turns;
  turns.jumps.reserve(code.size() / instructions_per_jump), turns.stops.reserve(code.size() / instructions_per_jump);
  for (const Instruction& instruction : code) {
    const Op op = instruction.op;
    if (!noted_ops[static_cast<std::size_t>(op)]) continue;
    turns.ops.add(op);
    if (instruction.target >= 0) turns.jumps.push_back(&instruction - code.data());
    if (!falls_through(op)) turns.stops.push_back(&instruction - code.data());
  }
  return turns;
}

}  // namespace depyf
