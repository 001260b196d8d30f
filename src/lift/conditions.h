// Joins blocks that test or choose values into one expression; see conditions.cpp.
#pragma once

#include "lift/edges.h"

namespace depyf::lifting {

// Joins the values of two of the `edges` to `block` that differ in the value on top of the stack into one expression.
// Returns true if two edges were joined, and false if no such pair exists.
bool reduce_values(Context& context, const Cursor& cursor, LiftedGraph& graph, NodeIndex block,
                   const Table<Edge>& edges);
// Joins the test of `block` with the tests in front of it that share a target. Returns true if any tests were joined.
bool merge_condition(Context& context, const Cursor& cursor, LiftedGraph& graph, NodeIndex block);

}  // namespace depyf::lifting
