// The paths out of a loop, from which its end is inferred (see loop_ends.cpp).
#pragma once

#include <cstdint>
#include <set>

#include "structure/outline.h"
#include "structure/place.h"
#include "support/table.h"

namespace depyf {

// The paths out of a loop.
struct LoopExits {
  std::set<NodeIndex> exits;  // the nodes outside of the loop to which edges from the loop lead
  // The nodes on paths out of the loop that belong to statements inside of the loop: handlers, and code that leaves
  // handlers.
  std::set<NodeIndex> lexical;
  // In 3.8: the setup nodes of those try statements in the loop that have code of the loop behind their handlers.
  Table<NodeIndex> go_round;
  // The largest bytecode offset of the loop's nodes and of its jumps back. Code at a smaller offset than `last` cannot
  // be the code behind the loop.
  std::uint32_t last = 0;
};

// Collects the paths out of the loop at `header`.
LoopExits loop_exits(const Outline& outline, NodeIndex header, NodeIndex exhausted, const Place& place);

// True if neither the iterator of the loop at `header`, nor that of a loop within it, is on the stack at `node`. A node
// outside of the loop that has such an iterator on the stack leads to the POP_TOP of a `break`, or returns or raises.
bool is_behind(const Outline& outline, NodeIndex header, NodeIndex node);

// True if the node only returns or raises, and has one predecessor. The end of a module or class body is no `return`.
bool leaves_at_once(const Outline& outline, NodeIndex node);

// Returns the node behind a loop that only `break` ends; -1 if no node is behind the loop.
NodeIndex after_endless(const Outline& outline, const Claims& claims, NodeIndex header, const Place& place,
                        const LoopExits& paths);

}  // namespace depyf
