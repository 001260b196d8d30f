// Executes the instructions that no other code observes: those that move values, jump, or raise a caught exception
// again.
#pragma once

#include "prove/lockstep_frames.h"

namespace depyf::lockstep {

// Runs one of the two compared code objects between two events (observable actions). Each silent operation has a member
// function, which `advance` finds in a table.
class SilentSteps {
 public:
  SilentSteps(Code (&codes)[2], const Values& values) : codes_(codes), values_(values) {}

  // Runs the code object `side` up to the next instruction that has an event (observable action). Sets `has_met` if the
  // code object reaches the target of a jump or the start of a handler on its way. Returns false if the code is
  // malformed, or loops without an event.
  bool advance(int side, Frames& frames, bool& has_met);
  // Moves `frame` to the handler of an exception that is raised at `frame.at`. Returns false if the stack is too short
  // for the handler.
  bool unwind(int side, Frame& frame, Value exception) const;

 private:
  enum class Outcome : std::uint8_t { silent, shows, fails };
  // An instruction of one code object, with the state that the instruction works on.
  struct Place {
    int side;
    Frames& frames;
    Frame& frame;
    const Code& code;
    const Instruction& instruction;
    std::vector<Value>& stack;
    std::size_t depth, count;  // the depth of the stack, and the instruction's argument (0 if it is negative)
  };
  using Step = Outcome (SilentSteps::*)(const Place&);

  Outcome pass(const Place& place) { return next(place); }
  Outcome jump(const Place& place);
  Outcome pop(const Place& place);
  Outcome copy(const Place& place);
  Outcome move(const Place& place);
  Outcome push_null(const Place& place);
  Outcome load_const(const Place& place);
  Outcome build_list(const Place& place);
  Outcome build_tuple(const Place& place);
  Outcome clear(const Place& place);
  Outcome store(const Place& place);
  Outcome end_send(const Place& place);
  Outcome return_generator(const Place& place);
  Outcome with_cleanup_finish(const Place& place);
  Outcome push_exc_info(const Place& place);
  Outcome pop_except(const Place& place);
  Outcome reraise(const Place& place);
  Outcome truth(const Place& place);
  Outcome jump_if(const Place& place);
  Outcome block_stack(const Place& place);
  static Outcome next(const Place& place) { return ++place.frame.at, Outcome::silent; }

  bool give_to_comprehension(int side, Frames& frames);
  bool run_block_stack(int side, Frame& frame) const;
  bool unwind_blocks(Frame& frame, Value exception) const;

  Code (&codes_)[2];
  const Values& values_;
  Value saved_ = 0;  // how many times an inlined comprehension has taken a local so far
};

}  // namespace depyf::lockstep
