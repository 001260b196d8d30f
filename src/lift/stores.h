// Stores; see stores.cpp.
#pragma once

#include "lift/simulation.h"

namespace depyf::lifting {

void store(Simulation& sim, ast::Expr* target, Entry value);
void store_name(Simulation& sim, ast::Expr* target);
void unpack(Simulation& sim, int before, int after, bool star);
// Something comes between the stores of an unpacking: what is not stored yet gets names.
void flush_unpackings(Simulation& sim);

}  // namespace depyf::lifting
