// Finds the edges into a block while blocks are being merged.
#pragma once

#include <optional>
#include <utility>

#include "lift/simulation.h"
#include "support/table.h"

namespace depyf::lifting {

// An edge: its source node, and a bool that is true if the edge leads to the successor `b` of the node, and false if
// the edge leads to the successor `a`.
using Edge = std::pair<NodeIndex, bool>;

// Sets `edges` to the edges from lifted nodes to `block`.
void find_edges(const Cursor& cursor, const LiftedGraph& graph, NodeIndex block, Table<Edge>& edges);
// Returns the only edge from lifted nodes to `block`, or nullopt if the number of edges is not one.
std::optional<Edge> only_edge_to(const Cursor& cursor, const LiftedGraph& graph, NodeIndex block);
// Sets `stack` to the stack with which the target of `edge` starts. If the target of `edge` is a handler, the stack is
// cut to the depth of the region that the handler protects, and the exception is pushed.
void copy_stack(Simulation& sim, Edge edge, Stack& stack);
// In 3.8: true if the jump from the end of `block` to `target` is a `break` that leaves a handler.
bool breaks_out_of_handler(const Cursor& cursor, NodeIndex block, NodeIndex target);
// True if the jump from the end of `block` to `target` is a `break` that leaves a `while True`.
bool breaks_out_of_while(const Cursor& cursor, NodeIndex block, NodeIndex target);
// True if `node`, whose last block is `block`, ends in a `break`, which is compiled to a POP_TOP of a for loop's
// iterator.
bool ends_in_break(const Cursor& cursor, const LiftedGraph& graph, NodeIndex node, NodeIndex block);

}  // namespace depyf::lifting
