#include "flow/jumps.h"

namespace depyf {

Turns find_turns(Row<const Instruction, InstructionIndex> code) {
  Turns turns;
  SurveyedOps ops;
  turns.jumps = Indices(code.size()), turns.stops = Indices(code.size());
  std::int32_t at = 0;
  for (const Instruction& instruction : code) {
    ops.add(instruction.op);
    turns.jumps.add_if(instruction.target >= 0, at);
    turns.stops.add_if(!falls_through(instruction.op), at);
    ++at;
  }
  turns.ops = ops;
  return turns;
}

}  // namespace depyf
