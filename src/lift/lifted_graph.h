// The graph that blocks are lifted into, while the blocks are being merged.
#pragma once

#include "lift/lift.h"
#include "support/table.h"

namespace depyf::lifting {

// A value on the stack. Its expression is not part of a statement yet.
struct Entry {
  ast::Expr* expr = nullptr;
  NodeIndex block;  // the node in which it was pushed
  // The instruction that took it out of the order of evaluation, or -1.
  int mover = -1;
};
using Stack = Table<Entry>;

// How the block of a node ends, while blocks are being merged. Edges hold block numbers.
struct State {
  Stack stack;  // the stack at the end of the node
  // `keep_a` and `keep_b`: the tested value stays on the stack along that edge.
  bool lifted = false, keep_a = false, keep_b = false;
  bool is_loop_header = false;  // a back edge leads to the block
  NodeIndex alias;  // the node that this one was merged into, or -1
  // True if the node has done nothing so far but pop iterators.
  bool pops = false;
};

// The nodes and their states, indexed by block.
struct LiftedGraph {
  explicit LiftedGraph(std::size_t blocks) { nodes.resize(blocks), states.resize(blocks); }

  Table<Node, NodeIndex> nodes;
  Table<State, NodeIndex> states;
  // The node that the current block is lifted into: its own, or the one that it was merged into.
  NodeIndex node = 0;
  bool ended = false;  // the current block has its end

  // Returns the node that a block was merged into, or the block itself.
  NodeIndex find(NodeIndex block) const {
    while (states[block].alias >= 0) block = states[block].alias;
    return block;
  }
};

}  // namespace depyf::lifting

// Defined in simulation.cpp. Elsewhere, the compiler inlines a push and calls only what makes the stack larger. C++ allows
// this for a type of the program, which the check does not know.
extern template class std::vector<depyf::lifting::Entry>;  // NOLINT(bugprone-std-namespace-modification)
