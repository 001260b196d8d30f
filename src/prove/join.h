// One state that stands for several: what is known where ways meet.
#pragma once

#include "prove/equal.h"
#include "prove/state.h"

namespace depyf {

// Is every execution that `state` stands for one that `general` stands for? Same places, same depth of stacks.
bool covers(const State& general, const State& state, const Symbols& symbols);

// Makes `general` stand for `state` too: values that differ become unknown ones, equal where they were equal in both
// (anti-unification). `codes`: what must be proved for that. True: some knowledge is lost, which happens only so often.
bool generalise(State& general, State state, Symbols& symbols, std::vector<CodePair>& codes);

}  // namespace depyf
