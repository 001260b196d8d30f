// The edges to a block while blocks are being merged.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "lift/simulation.h"

namespace depyf::lifting {

// A node, and whether the edge is that along b.
using Edge = std::pair<int, bool>;

bool is_loop_header(const Cursor& cursor, int block);
std::vector<Edge> edges_to(const Cursor& cursor, LiftedGraph& graph, int block);
// None where there are several, too.
std::optional<Edge> only_edge_to(const Cursor& cursor, LiftedGraph& graph, int block);
std::vector<Entry> stack_on_edge(Simulation& sim, int node, bool along_b);
// True if `node`, of which `block` is the last part, ends in `break`: statements, then POP_TOP of the iterator.
bool ends_in_break(const Cursor& cursor, const LiftedGraph& graph, int node, int block);

}  // namespace depyf::lifting
