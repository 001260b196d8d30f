// Reads the event of an instruction: the action that other code can observe, and the operands of the action. A proof
// requires that both code objects have the same events in the same order.
#pragma once

#include "prove/lockstep_frames.h"

namespace depyf::lockstep {

// Reads the events (the actions that other code can observe) of one of the two code objects. `event` and `operands`
// hold the result of the last `read`.
class EventReader {
 public:
  // `code` is the code object whose events are read, and `partner` is the code object that it is compared with.
  EventReader(const Code& code, const Code& partner, const Values& values)
      : code_(code), values_(values), has_unlike_names_(code.has_table != partner.has_table) {}

  // Reads the event of the next instruction of `frame`. If several instructions together form the event, `frame` moves
  // to the last of them. Returns false if the instruction has no event, or if its operands are not understood.
  bool read(Frame& frame);

  Event event;
  std::vector<Value> operands;

 private:
  bool show(Frame& frame);
  bool loaded(const Constant* constant);
  bool attribute(const Frame& frame, const Instruction& instruction, int pops);
  bool is_same(const Frame& frame, const Instruction& instruction);
  bool jump_if_none(const Frame& frame, Op op);
  bool jump_if(const Frame& frame, Op op);
  bool addition(const Frame& frame, const Instruction& instruction);
  bool yield_value(const Frame& frame, const Instruction& instruction);
  bool exception_match(const Frame& frame);
  bool match_parts(const Frame& frame, const Instruction& instruction);
  bool end_async_for(const Frame& frame);
  bool with_except_start(const Frame& frame);
  // Marks the event as one that never raises.
  void raises_nothing() { event.raises = false; }

  // Appends the top `pops` values of the stack as operands. Returns false if one of these values is NULL, or is only a
  // part of a value (see lockstep_values.h).
  bool take(const Frame& frame, int pops) {
    if (pops < 0 || std::size_t(pops) > frame.stack.size()) return false;
    for (auto value = frame.stack.end() - pops; value != frame.stack.end(); ++value)
      if (!add_operand(*value)) return false;
    return true;
  }
  bool add_operand(Value value) {
    operands.push_back(value);
    return value > null_value && is_whole(value);
  }
  // The following functions fill in `event` for groups of operations; they return false if the stack is too short or
  // has values that do not fit the operation.
  bool simple(const Frame& frame, const Instruction& instruction, std::int32_t detail);
  bool named(const Frame& frame, const Instruction& instruction, std::int32_t detail);
  bool peeks(const Frame& frame, int count, int results);
  bool local(const Frame& frame, const Instruction& instruction);
  bool test(const Frame& frame);
  bool callable(const Frame& frame, int pops);
  bool call(const Frame& frame, const Instruction& instruction);
  bool call_expanded(const Frame& frame, const Instruction& instruction);
  bool make_function(Frame& frame, const Instruction& instruction);
  bool gathered(const Frame& frame, const std::vector<Constant>& items, Op build);
  bool with_cleanup(const Frame& frame);
  bool class_detail(const Frame& frame);
  bool branch(const Frame& frame, bool jumps_if, bool keeps);

  const Code& code_;
  const Values& values_;
  // True if only one of the code objects is of 3.10 or earlier, so that the functions of class bodies have different
  // names.
  const bool has_unlike_names_;
};

}  // namespace depyf::lockstep
