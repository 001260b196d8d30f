// Describes the place where a statement is written, and the nodes that have been placed.
#pragma once

#include "lift/lift.h"
#include "support/table.h"

namespace depyf {

// A place where statements are written. Control goes from the place to the node `next` without a jump, to `cont` by
// `continue`, and to `brk` by `break`. `region` and `loop` are the region and the loop around the place. The value -1
// stands for no node, region or loop. A `next` of -2 equals no node, so that every transfer of control needs a
// statement.
struct Place {
  NodeIndex next, cont, brk;
  RegionIndex region;
  NodeIndex loop;
  // True if `continue` or `break` leads to the node.
  bool jumps_to(NodeIndex node) const { return node == cont || node == brk; }
  // True if control gets from this place to the node without a statement, or by `continue` or `break`.
  bool leads_to(NodeIndex node) const { return node == next || jumps_to(node); }
};

// The decisions about a node.
struct Claim {
  bool claimed = false;  // true if some place has reserved the node, and will write it
  bool emitted = false;  // true if the node has been written
  bool opened = false;  // true if the `while True:` block that starts at the node has been begun
};
using Claims = Table<Claim, NodeIndex>;

}  // namespace depyf
