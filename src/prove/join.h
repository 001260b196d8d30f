// Merges the states of several paths that meet at one place, so that one state stands for all of them.
#pragma once

#include "prove/equal.h"
#include "prove/state.h"

namespace depyf {

// Returns true if every execution that `state` stands for is also one that `general` stands for. Both states must be at
// the same place, with stacks of the same depth.
bool covers(const State& general, const State& state, const Symbols& symbols);

// Makes `general` stand for the executions of `state`, too. Values in which the two states differ become unknown
// values, and two unknown values are equal if the values were equal in both states (anti-unification). Pairs of code
// objects whose equality the merge assumes are appended to `codes`. Returns true if `general` has lost knowledge,
// which can happen only a limited number of times.
bool generalise(State& general, State state, Symbols& symbols, std::vector<CodePair>& codes);

}  // namespace depyf
