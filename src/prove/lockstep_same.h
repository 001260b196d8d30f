// Executes an instruction for both code objects at once, if it comes next in both of them. The events (observable
// actions) of an instruction that is executed in this way are not read (see lockstep_events.h).
#pragma once

#include "prove/lockstep_frames.h"
#include "prove/lockstep_pair.h"

namespace depyf::lockstep {

// If both code objects execute the same instruction with the same operands, its effects and its results are the same,
// so the proof does not compare them for most instructions. Calls and loads of methods count as the same if they differ
// only in the form that their Python version uses.
class SameInstructions {
 public:
  SameInstructions(const Code (&codes)[2], EventPair& pair, Values& values)
      : codes_(codes), pair_(pair), values_(values) {}

  // Returns true if the next instructions of both code objects are the same, have the same operands, and fall through
  // to the instruction behind them unless they raise. Returns false for instructions that may count as several events
  // (observable actions), which the class EventReader reads.
  bool are_next(Frames& frames);
  // Moves both code objects past the instructions that the last call of `are_next` has found to be the same.
  void execute(Frames& frames);
  // Returns true if the instructions that the last call of `are_next` has found to be the same may raise an
  // exception.
  bool may_raise() const;

 private:
  bool shows_more(int side, int at) const;
  bool has_same_argument(const Instruction& one, const Instruction& two, Frames& frames);
  bool are_same_calls(const Instruction& one, const Instruction& two, const Frames& frames);

  const Code (&codes_)[2];
  EventPair& pair_;
  Values& values_;
  // The operation of the instructions that `are_next` has compared last, the number of values that it pops in each
  // code object, and the number of values that it pushes in both.
  Op op_ = Op::nop_;
  std::size_t pops_[2] = {}, pushes_ = 0;
  bool pushes_self_[2] = {};  // true if LOAD_METHOD pushes a slot for the self above the method
};

}  // namespace depyf::lockstep
