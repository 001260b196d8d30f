// The place where a statement is written, and the nodes that have been placed.
#pragma once

#include "lift/lift.h"
#include "support/table.h"

namespace depyf {

// The nodes to which control goes from the current place without a jump (`next`), by `continue` (`cont`) and by `break`
// (`brk`), and the region and the loop around the place; -1 stands for no node, region or loop. A `next` of -2 equals
// no node, so that every transfer of control needs a statement.
struct Place {
  NodeIndex next, cont, brk;
  RegionIndex region;
  NodeIndex loop;
  // True if `continue` or `break` leads to the node.
  bool jumps_to(NodeIndex node) const { return node == cont || node == brk; }
  // True if control can get from this place to the node without further statements than a jump.
  bool leads_to(NodeIndex node) const { return node == next || jumps_to(node); }
};

// The decisions about each node.
struct Claims {
  explicit Claims(std::size_t nodes) : claimed(nodes), emitted(nodes), opened(nodes) {}
  Table<char> claimed;  // some place will emit the node
  Table<char> emitted;  // the node has been written
  Table<char> opened;   // the block that starts at the node has been written
};

}  // namespace depyf
