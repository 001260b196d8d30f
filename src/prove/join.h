// Merges states where ways meet, so that one state stands for several.
#pragma once

#include "prove/equal.h"
#include "prove/state.h"

namespace depyf {

// Returns true if every execution that `state` stands for is also one that `general` stands for. Both states are at the
// same place, with stacks of the same depth.
bool covers(const State& general, const State& state, const Symbols& symbols);

// Makes `general` stand for the executions of `state`, too. Values that differ become unknown values, which are equal
// where they were equal in both states (anti-unification). Code objects that must be proved for that are appended to
// `codes`. Returns true if `general` has lost knowledge, which can happen only a limited number of times.
bool generalise(State& general, State state, Symbols& symbols, std::vector<CodePair>& codes);

}  // namespace depyf
