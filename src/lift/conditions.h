// Joins blocks that test or choose values into one expression; see conditions.cpp.
#pragma once

#include "lift/simulation.h"

namespace depyf::lifting {

// Joins two ways to `block` that differ in the value on top of the stack into one expression, once. Returns true if it
// did.
bool reduce_values(Context& context, const Cursor& cursor, LiftedGraph& graph, NodeIndex block);
// Joins the test of `block` with the tests in front of it that share a target. Returns true if it joined any.
bool merge_condition(Context& context, const Cursor& cursor, LiftedGraph& graph, NodeIndex block);

}  // namespace depyf::lifting
