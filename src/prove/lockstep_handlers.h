// Finds the exception handlers to which an exception leads, when two code objects are run in step.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "prove/lockstep_frames.h"
#include "prove/lockstep_silent.h"

namespace depyf::lockstep {

// Remembers in which situations exceptions have reached handlers; a `Situation` consists of the protected ranges and
// the values that a handler finds. Most events in a protected range can raise an exception in the same situation, so
// the handlers are followed only once for each situation.
class Handlers {
 public:
  Handlers(const Code (&codes)[2], const SilentSteps& silent, Values& values)
      : codes_(codes), silent_(silent), values_(values) {}

  // Appends to `ahead` the state that both frames have after the next instructions of `frames` have raised an
  // exception, if a handler catches it. The value 0 for `exception` means an exception that is new to both code
  // objects. Returns false if the stack is too short for a handler.
  bool raise(const Frames& frames, Value exception, std::vector<Frames>& ahead) {
    if (!has_handler(0, frames.sides[0]) && !has_handler(1, frames.sides[1])) return true;
    return enter(frames, exception, ahead);
  }

 private:
  struct Situation {
    int range_of_other = -1;  // the protected range of the second code object
    std::vector<Value> below[2];  // the values that stay below the exception
    std::vector<Block> blocks[2];
    std::vector<Shadow> shadows;
    Value handled[2] = {};
  };

  bool has_handler(int side, const Frame& frame) const {
    return codes_[side].has_table ? codes_[side].handler_at(frame.at) >= 0 : !frame.blocks.empty();
  }
  bool enter(const Frames& frames, Value exception, std::vector<Frames>& ahead);
  std::span<const Value> below(int side, const Frame& frame) const;
  bool is_in(const Situation& situation, const Frames& frames) const;
  Situation situation_of(const Frames& frames) const;

  const Code (&codes_)[2];
  const SilentSteps& silent_;
  Values& values_;
  // The situations in which exceptions have reached handlers. A map by the protected range of the first code object (-1
  // outside of all ranges) keeps each list short, because a function may have thousands of handlers.
  std::unordered_map<int, std::vector<Situation>> known_;
};

}  // namespace depyf::lockstep
