// Nodes of the lifted graph that do nothing.
#pragma once

#include "lift/lift.h"

namespace depyf {

// Facts about a graph that are cheap to gather. Most graphs have neither, and then most of the work is left out.
struct Shape {
  Table<NodeIndex> back_targets;  // where edges lead that may close a loop
  bool has_ends = false;  // some node leaves a statement, or starts an else clause (3.8)
};

Shape shape_of(const Table<Node, NodeIndex>& nodes);

// True if the node has no statements but markers that structuring removes.
bool only_markers(const Node& node);

// True if the edge may close a loop. Back edges lead to the start of a loop, which does not come later in the code.
inline bool leads_back(const Table<Node, NodeIndex>& nodes, const Node& from, NodeIndex to) {
  return to >= 0 && nodes[to].offset <= from.offset;
}

// Redirects edges past nodes that do nothing.
void skip_empty(Lifted& lifted, const Shape& shape);

}  // namespace depyf
