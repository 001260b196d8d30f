// Defines the graph into which blocks are lifted, with the state that is needed while blocks are being merged.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "lift/lift.h"
#include "support/branch_free.h"
#include "support/table.h"

namespace depyf::lifting {

// A value on the stack, whose expression is not part of a statement yet.
struct Entry {
  ast::Expr* expr = nullptr;
  NodeIndex block;  // the node that pushed the value
  // The index of the SWAP or ROTATE instruction that moved the value out of the order of evaluation, or -1 if no
  // instruction moved the value.
  int mover = -1;
};

// A stack of values. This class replaces std::vector: `Stack::push_back` writes the members of an entry directly into
// the stack, whereas std::vector would copy a whole entry.
class Stack {
 public:
  Stack() = default;
  Stack(Stack&& other) noexcept { swap(other); }
  Stack(const Stack& other) { *this = other; }
  Stack& operator=(const Stack& other);
  Stack& operator=(Stack&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Stack() = default;

  bool empty() const { return depth_ == 0; }
  std::size_t size() const { return depth_; }
  Entry* begin() { return entries_.get(); }
  const Entry* begin() const { return entries_.get(); }
  Entry* end() { return begin() + depth_; }
  const Entry* end() const { return begin() + depth_; }
  Entry& back() { return end()[-1]; }
  const Entry& back() const { return end()[-1]; }
  Entry& operator[](std::size_t index) { return begin()[index]; }
  const Entry& operator[](std::size_t index) const { return begin()[index]; }
  void push_back(const Entry& entry) { push_back(entry.expr, entry.block, entry.mover); }
  void push_back(ast::Expr* expr, NodeIndex block, int mover) {
    if (depth_ == capacity_) [[unlikely]]
      grow();
    Entry& entry = entries_[depth_++];
    entry.expr = expr, entry.block = block, entry.mover = mover;
  }
  void pop_back() { --depth_; }
  void shrink(std::size_t depth) { depth_ = depth; }  // keeps the lowest `depth` values
  void clear() { depth_ = 0; }

 private:
  void grow();
  void swap(Stack& other) noexcept {
    std::swap(entries_, other.entries_), std::swap(depth_, other.depth_), std::swap(capacity_, other.capacity_);
  }

  std::unique_ptr<Entry[]> entries_;
  std::size_t depth_ = 0, capacity_ = 0;
};

// The state of a node while blocks are being merged. Until lifting ends, the edges `a` and `b` of a node are numbers of
// blocks that may have been merged into other nodes.
struct State {
  Stack stack;  // the stack at the end of the node
  // `lifted`: true if the block has been lifted. `keep_a` and `keep_b`: true if the tested value stays on the stack
  // along the edge to `a` or `b`.
  bool lifted = false, keep_a = false, keep_b = false;
  NodeIndex alias;  // the node that this one was merged into, or -1
  // True if the block is the cleanup code of a chained comparison, which only pops the middle operand, or if only
  // cleanup code of chained comparisons leads to the block.
  bool is_chain_end = false;
  // True if all instructions of the node that have been simulated only pop iterators of for loops.
  bool pops = false;
};

// The nodes and their states, indexed by block.
struct LiftedGraph {
  // `resize` constructs each element in place, whereas the constructor of a Table with a number of elements would copy
  // one element many times.
  explicit LiftedGraph(std::size_t blocks) {
    nodes.resize(blocks);
    states.resize(blocks);
  }

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
  // Returns the node that `block`, the target of an edge, was merged into; `block` itself if it was not merged; or -1
  // if `block` is -1. About half of all blocks have been merged, so the first step from a block to its alias is a
  // selection without a branch. For nearly all merged blocks, the alias itself was not merged, so no second step is
  // needed.
  NodeIndex target(NodeIndex block) const {
    const NodeIndex alias = states[or_zero(block)].alias;
    const NodeIndex step = select((block >= 0) & (alias >= 0), alias, block);
    const bool is_merged = (step >= 0) & (states[or_zero(step)].alias >= 0);
    return is_merged ? find(step) : step;
  }
};

}  // namespace depyf::lifting
