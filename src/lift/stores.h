// Lifts stores; see stores.cpp.
#pragma once

#include "lift/simulation.h"

namespace depyf::lifting {

// Lifts the store of `value` to `target`: as an assignment, a definition, or a part of a statement that is not complete
// yet.
void store(Simulation& sim, ast::Expr* target, Entry value);
// Stores the value on top of the stack in a variable.
void store_name(Simulation& sim, ast::Expr* target);
// Starts an unpacking whose targets are `before` plain targets, a starred target if `star` is set, and `after` more
// plain targets.
void unpack(Simulation& sim, int before, int after, bool star);
// Ends all incomplete unpackings, because the next instruction is not a store of an unpacked value. Missing targets of
// the unpackings become temporaries.
void flush_open_unpackings(Simulation& sim);
inline void flush_unpackings(Simulation& sim) {
  if (!sim.stores.unpackings.empty()) flush_open_unpackings(sim);
}

}  // namespace depyf::lifting
