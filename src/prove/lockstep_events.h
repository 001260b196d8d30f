// What an instruction shows: the event that must be the same on both sides, with its operands.
#pragma once

#include "prove/lockstep_frames.h"

namespace depyf::lockstep {

// The event of one side. `event` and `operands` are those of the last `read`.
class EventReader {
 public:
  // `partner`: the code of the other side.
  EventReader(const Code& code, const Code& partner, const Values& values)
      : code_(code), values_(values), has_unlike_names_(code.has_table != partner.has_table) {}

  // Reads the event at `frame`, which is left behind the instructions that one event has. False if there is none.
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
  bool end_async_for(const Frame& frame);
  bool with_except_start(const Frame& frame);
  void raises_nothing() { event.raises = false; }

  // Takes `pops` values from the top as operands. No operand may be NULL.
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
  const bool has_unlike_names_;  // to 3.10 and later, some functions have another qualified name
};

}  // namespace depyf::lockstep
