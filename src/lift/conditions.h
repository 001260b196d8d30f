// Joins blocks that test or choose values into one expression; see conditions.cpp.
#pragma once

#include "lift/edges.h"

namespace depyf::lifting {

// Finds two `edges` to `block` whose stacks differ only in the top value, and joins the two values into one expression.
// Returns true if two edges were joined, and false if no two edges can be joined.
bool reduce_values(Context& context, const Cursor& cursor, LiftedGraph& graph, NodeIndex block,
                   const Table<Edge>& edges);
// Joins the test of `block` with each preceding test that shares a target with the test of `block`. Returns true if any
// tests were joined.
bool merge_condition(Context& context, const Cursor& cursor, LiftedGraph& graph, NodeIndex block);

}  // namespace depyf::lifting
