// What a frame does that others can see.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/instruction.h"
#include "prove/symbols.h"

namespace depyf {

// What someone else can see, or what may raise. Both sides must have the same next effect: op, detail, name, operands.
struct Effect {
  Op op{};
  std::int32_t detail = 0;
  Symbol name = Symbols::null;
  std::vector<Symbol> operands = {};
  std::vector<Symbol> context = {};  // compared like operands, but no argument: what super() or locals() look at

  // What follows on this side once the effect has been matched.
  enum class Then : std::uint8_t {
    push,     // pops `pops`, pushes the results
    iterate,  // as push; or takes the jump, with the iterator exhausted
    send,     // the receiver has yielded; or has returned, and the jump is taken
    tested,   // the same instruction again, with the truth known
    bound,    // the same instruction again, with operands[0] known to be bound
    with,     // to 3.10: push, with a block below the last result
    end,      // nothing follows
  };
  Then then = Then::push;
  bool raises = true, returns = true;  // may an exception follow, may anything else
  bool boolean = false;                // the last result is True or False
  bool method = false;                 // the result is a method, followed by its self or NULL
  bool half = false;                   // the instruction has a second effect
  bool negated = false;                // the result is negated
  bool none = false;                   // None is pushed after the results
  int outputs = -1;                    // the result is a container of so many items; see ProofOptions. -1: a value
  int pops = 0, results = 0;
};

enum class Step : std::uint8_t { silent, effect, split, stuck };

}  // namespace depyf
