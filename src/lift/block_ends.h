// Simulates the instructions that end a block.
#pragma once

#include "lift/simulation.h"

namespace depyf::lifting {

// Ends the block with a test of the value on top of the stack.
void branch(Simulation& sim, const Instruction& instruction);
// Ends the block with the head of a for loop, whose iterator is on top of the stack.
void loop(Simulation& sim, const Instruction& instruction);
// Ends the block with a return of the value on top of the stack.
void leave(Simulation& sim, const Instruction& instruction);
// Ends the current node without a successor, as a `raise` does.
void stop(LiftedGraph& graph);

}  // namespace depyf::lifting
