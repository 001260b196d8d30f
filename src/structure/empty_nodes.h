// Finds nodes of the lifted graph that do nothing, and redirects edges past them.
#pragma once

#include "lift/lift.h"
#include "support/branch_free.h"

namespace depyf {

// Facts about a graph that are cheap to compute. In most graphs, `back_targets` is empty and `has_ends` is false, so
// that `simplify_graph` skips most of its work.
struct Shape {
  Table<NodeIndex> back_targets;  // the targets of edges that may close a loop
  bool has_ends = false;  // in 3.8: true if `left_by_statement` or `else_clause` of some node is set
  bool has_regions = false;  // true if the code has try or with statements, which leave markers (see `only_markers`)
};

Shape shape_of(const Table<Node, NodeIndex>& nodes, const Cfg& cfg);

// True if the only statements of the node are markers for popping an exception or leaving a with statement.
bool only_markers(const Node& node);

// True if the edge from `from` to `to` may close a loop, because `to` does not come later in the code than `from`.
inline bool leads_back(const Table<Node, NodeIndex>& nodes, const Node& from, NodeIndex to) {
  // If `to` is -1, the offset of node 0 is compared, and the result of the comparison does not count, so that the test
  // contains no branch.
  return (to >= 0) & (nodes[or_zero(to)].offset <= from.offset);
}

// Redirects edges past nodes that do nothing.
void skip_empty(Lifted& lifted, const Shape& shape);

}  // namespace depyf
