// Lists the values that the second of two frames holds longer than the first.
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

// Returns true if the effect passes its operands to a callee or caller, so that the frame does not hold the operands
// during the effect. `calls_keep_operands` is the option of this name in ProofOptions.
bool hands_operands_over(const Effect& effect, bool calls_keep_operands);

// Returns the values that the second frame holds and the first frame does not hold, at most one for each slot. The top
// `popped_one` values of the first stack, and the top `popped_two` values of the second stack, do not count as held.
// `also_held` lists further values that the first frame holds.
std::vector<Held> held_too_long(const State& state, const Symbols& symbols, int popped_one, int popped_two,
                                const std::vector<Symbol>& also_held);

}  // namespace depyf
