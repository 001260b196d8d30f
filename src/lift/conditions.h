// Conditions that several blocks make; see conditions.cpp.
#pragma once

#include "lift/simulation.h"

namespace depyf::lifting {

// True if values that differ by the way to `block` became one expression.
bool reduce_values(Context& context, const Cursor& cursor, LiftedGraph& graph, int block);
// Joins tests that share a target to the one of `block`; true if any were.
bool merge_condition(Context& context, const Cursor& cursor, LiftedGraph& graph, int block);

}  // namespace depyf::lifting
