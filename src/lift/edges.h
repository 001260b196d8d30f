// The edges into a block, while blocks are being merged.
#pragma once

#include <optional>
#include <utility>

#include "lift/simulation.h"
#include "support/table.h"

namespace depyf::lifting {

// A source node, and whether the edge is the one to its `b`.
using Edge = std::pair<NodeIndex, bool>;

// Sets `edges` to the edges from lifted nodes to `block`.
void find_edges(const Cursor& cursor, const LiftedGraph& graph, NodeIndex block, Table<Edge>& edges);
// Returns the edge to `block` if there is exactly one.
std::optional<Edge> only_edge_to(const Cursor& cursor, const LiftedGraph& graph, NodeIndex block);
// Copies the stack at the end of an edge to `stack`. For the way to a handler, the stack is cut and the exception is on
// top.
void copy_stack(Simulation& sim, Edge edge, Stack& stack);
// In 3.8: true if the jump at the end of `block` is a `break` that leaves a handler.
bool breaks_out_of_handler(const Cursor& cursor, NodeIndex block, NodeIndex target);
// True if `node`, whose last part is `block`, ends in `break`: POP_TOP of the iterator behind statements.
bool ends_in_break(const Cursor& cursor, const LiftedGraph& graph, NodeIndex node, NodeIndex block);

}  // namespace depyf::lifting
