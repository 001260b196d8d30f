// Nodes of the lifted graph that do nothing.
#pragma once

#include "lift/lift.h"

namespace depyf {

// Cheap facts about a graph. Most graphs have neither `back_targets` nor `has_ends`, so most of the simplification is
// left out for them.
struct Shape {
  Table<NodeIndex> back_targets;  // the targets of edges that may close a loop
  bool has_ends = false;  // some node leaves a statement, or starts an else clause (3.8)
};

Shape shape_of(const Table<Node, NodeIndex>& nodes);

// True if the only statements of the node are markers for popping an exception or leaving a with statement.
bool only_markers(const Node& node);

// True if the edge may close a loop, because its target does not come later in the code than its source.
inline bool leads_back(const Table<Node, NodeIndex>& nodes, const Node& from, NodeIndex to) {
  return to >= 0 && nodes[to].offset <= from.offset;
}

// Redirects edges past nodes that do nothing.
void skip_empty(Lifted& lifted, const Shape& shape);

}  // namespace depyf
