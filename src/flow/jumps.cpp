#include "flow/jumps.h"

#include <algorithm>
#include <array>

#include "decode/op_info.h"

namespace depyf {
namespace {

// By operation: true if an instruction may have a target, or does not fall through. Only these instructions, one in
// five or so, are looked at more closely.
constexpr std::array<bool, op_count> turning_ops = [] {
  std::array<bool, op_count> turning{};
  for (std::size_t op = 0; op < op_count; ++op)
    turning[op] = info_of(static_cast<Op>(op)).control != Control::next || !falls_through(static_cast<Op>(op));
  return turning;
}();

}  // namespace

Turns find_turns(Row<const Instruction, InstructionIndex> code) {
  Turns turns;
  turns.jumps.reserve(code.size() / instructions_per_jump), turns.stops.reserve(code.size() / instructions_per_jump);
  OpSet ops;
  for (const Instruction& instruction : code) {
    ops.add(instruction.op);
    if (!turning_ops[static_cast<std::size_t>(instruction.op)]) continue;
    if (instruction.target >= 0) turns.jumps.push_back(&instruction - code.data());
    if (!falls_through(instruction.op)) turns.stops.push_back(&instruction - code.data());
  }
  turns.ops = ops;
  return turns;
}

}  // namespace depyf
