// Executes an instruction that both sides have on both of them at once, without splitting it into events (see
// lockstep_events.h).
#pragma once

#include "prove/lockstep_frames.h"
#include "prove/lockstep_pair.h"

namespace depyf::lockstep {

// The same instruction with the same operands has the same effect and the same results, so the events of most
// instructions need not be read. Calls and loads of methods count as the same if they differ only in the form that
// their Python version uses.
class SameInstructions {
 public:
  SameInstructions(const Code (&codes)[2], EventPair& pair, Values& values)
      : codes_(codes), pair_(pair), values_(values) {}

  // Returns true if both sides are at the same instruction, have the same operands for it, and continue with the next
  // instruction, apart from exceptions. Instructions that may have several events are left to the class EventReader.
  bool are_next(Frames& frames);
  // Moves both sides past the instruction for which `are_next` has returned true.
  void execute(Frames& frames);
  // Returns true if the instruction for which `are_next` has returned true may raise an exception.
  bool may_raise() const;

 private:
  bool shows_more(int side, int at) const;
  bool has_same_argument(const Instruction& one, const Instruction& two, Frames& frames);
  bool are_same_calls(const Instruction& one, const Instruction& two, const Frames& frames);

  const Code (&codes_)[2];
  EventPair& pair_;
  Values& values_;
  // The last instruction that `are_next` has found, and the values that it pops on each side and pushes on both.
  Op op_ = Op::nop_;
  std::size_t pops_[2] = {}, pushes_ = 0;
  bool pushes_self_[2] = {};  // whether LOAD_METHOD pushes a slot for the self above the method
};

}  // namespace depyf::lockstep
