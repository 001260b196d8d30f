// Finds out which values a frame holds, and which of them it holds too long.
#pragma once

#include <vector>

#include "prove/effect.h"
#include "prove/state.h"

namespace depyf {

// A value that some slot of the frame keeps alive.
struct Held {
  int local = -1;  // index of the local or cell that holds the value; -1 if the value stack holds it
  Symbol value = Symbols::null;
};

// Returns true if other code may run, or memory may be allocated, while the effect takes place.
bool lets_time_pass(const Effect& effect);

// Returns true if the effect passes its operands to a callee or caller, so that the frame does not hold them during the
// effect.
bool hands_operands_over(const Effect& effect, bool calls_keep_operands);

// Returns the values that the second side holds and the first side does not, at most one for each slot. The top
// `popped_one` values of the first stack and the top `popped_two` values of the second stack are left out. `also_held`
// lists further values that the first side holds.
std::vector<Held> held_too_long(const State& state, const Symbols& symbols, int popped_one, int popped_two,
                                const std::vector<Symbol>& also_held);

}  // namespace depyf
