// The edges into a block, while blocks are being merged.
#pragma once

#include <optional>
#include <utility>

#include "lift/simulation.h"
#include "support/table.h"

namespace depyf::lifting {

// An edge: its source node, and true if the edge is that to the node's `b`, false if it is that to `a`.
using Edge = std::pair<NodeIndex, bool>;

// Sets `edges` to the edges from lifted nodes to `block`.
void find_edges(const Cursor& cursor, const LiftedGraph& graph, NodeIndex block, Table<Edge>& edges);
// Returns the only edge to `block`, or nullopt if there are none or several.
std::optional<Edge> only_edge_to(const Cursor& cursor, const LiftedGraph& graph, NodeIndex block);
// Copies the stack with which the target of `edge` starts to `stack`. For the edge to a handler, the stack is cut to
// the depth of the region, and the exception is on top.
void copy_stack(Simulation& sim, Edge edge, Stack& stack);
// In 3.8: true if the jump at the end of `block` is a `break` that leaves a handler.
bool breaks_out_of_handler(const Cursor& cursor, NodeIndex block, NodeIndex target);
// True if `node`, whose last block is `block`, ends in `break`: POP_TOP of a for loop's iterator.
bool ends_in_break(const Cursor& cursor, const LiftedGraph& graph, NodeIndex node, NodeIndex block);

}  // namespace depyf::lifting
