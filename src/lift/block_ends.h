// How blocks end.
#pragma once

#include "lift/simulation.h"

namespace depyf::lifting {

// A test of the value on top, the head of a for loop, a return of the value on top.
void branch(Simulation& sim, const Instruction& instruction);
void loop(Simulation& sim, const Instruction& instruction);
void leave(Simulation& sim, const Instruction& instruction);
// The node does not go on.
void stop(LiftedGraph& graph);

}  // namespace depyf::lifting
