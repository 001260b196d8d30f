// The graph that blocks are lifted into, while they are still being merged.
#pragma once

#include <vector>

#include "lift/lift.h"

namespace depyf::lifting {

// A value on the stack, its expression not yet part of a statement.
struct Entry {
  ast::Expr* expr = nullptr;
  int block = -1;  // node in which it was pushed
  int mover = -1;  // instruction that took it out of the order of evaluation
};
using Stack = std::vector<Entry>;

// How a node's block ends, while blocks are still being merged. Edges hold block numbers.
struct State {
  Stack stack;  // at the end
  bool lifted = false, keep_a = false, keep_b = false;  // keep: the tested value stays on the stack along that edge
  int alias = -1;  // merged into that node
  bool pops = false;  // nothing in it so far but iterators that are popped
};

struct LiftedGraph {
  explicit LiftedGraph(std::size_t blocks) : nodes(blocks), states(blocks) {}

  std::vector<Node> nodes;
  std::vector<State> states;
  int node = 0;        // that the block at work is lifted into: itself, or what it was merged into
  bool ended = false;  // the block has its end

  // The node that a block was merged into, or itself.
  int find(int block) const {
    while (states[block].alias >= 0) block = states[block].alias;
    return block;
  }
};

}  // namespace depyf::lifting
