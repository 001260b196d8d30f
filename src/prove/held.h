// Which values a frame holds, and which of them it holds too long.
#pragma once

#include <vector>

#include "prove/effect.h"
#include "prove/state.h"

namespace depyf {

struct Held {
  int local = -1;  // index of the local or cell that holds the value; -1: the value stack does
  Symbol value = Symbols::null;
};

// True if other code may run, or memory may be allocated, while the effect takes place.
bool lets_time_pass(const Effect& effect);

// True if the frame holds the operands of the effect no longer while it takes place.
bool hands_operands_over(const Effect& effect, bool calls_keep_operands);

// What the second side holds and the first does not, each local once. `popped_*`: so many values on top of the stacks do
// not count; `also_held`: values that the first side holds as well.
std::vector<Held> held_too_long(const State& state, const Symbols& symbols, int popped_one, int popped_two,
                                const std::vector<Symbol>& also_held);

}  // namespace depyf
