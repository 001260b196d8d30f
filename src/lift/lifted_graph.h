// The graph that blocks are lifted into, while the blocks are being merged.
#pragma once

#include "lift/lift.h"
#include "support/table.h"

namespace depyf::lifting {

// A value on the stack, whose expression is not part of a statement yet.
struct Entry {
  ast::Expr* expr = nullptr;
  NodeIndex block;  // the node that pushed the value
  // The index of the instruction (SWAP, ROTATE) that moved the value out of the order of evaluation, or -1.
  int mover = -1;
};
using Stack = Table<Entry>;

// The state of a node while blocks are being merged. Until lifting ends, the edges of a node are numbers of blocks,
// which may have been merged into other nodes.
struct State {
  Stack stack;  // the stack at the end of the node
  // `keep_a` and `keep_b`: true if the tested value stays on the stack along the edge to `a` or `b`.
  bool lifted = false, keep_a = false, keep_b = false;
  NodeIndex alias;  // the node that this one was merged into, or -1
  // True if the block only pops the middle operand of a chained comparison, or follows only such blocks.
  bool is_chain_end = false;
  // True if the node has done nothing so far but pop iterators.
  bool pops = false;
};

// The nodes and their states, indexed by block.
struct LiftedGraph {
  explicit LiftedGraph(std::size_t blocks) { nodes.resize(blocks), states.resize(blocks); }

  Table<Node, NodeIndex> nodes;
  Table<State, NodeIndex> states;
  // The node that the current block is lifted into: the node of the block, or the node that the block was merged into.
  NodeIndex node = 0;
  bool ended = false;  // true if the end of the current block's node is set

  // Returns the node that a block was merged into, or the block itself.
  NodeIndex find(NodeIndex block) const {
    while (states[block].alias >= 0) block = states[block].alias;
    return block;
  }
};

}  // namespace depyf::lifting

// Instantiated in simulation.cpp, so that other files inline the push of an entry and call only the function that
// enlarges the stack. C++ allows an instantiation of std::vector for a program-defined type, but clang-tidy reports it.
extern template class std::vector<depyf::lifting::Entry>;  // NOLINT(bugprone-std-namespace-modification)
