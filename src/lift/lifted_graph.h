// The graph that blocks are lifted into, while the blocks are being merged.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

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

// The stack of values. `push_back` writes the members of an entry directly into the stack, whereas std::vector would
// copy a whole entry.
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

// The state of a node while blocks are being merged. Until lifting ends, the edges of a node are numbers of blocks,
// which may have been merged into other nodes.
struct State {
  Stack stack;  // the stack at the end of the node
  // `keep_a` and `keep_b`: true if the tested value stays on the stack along the edge to `a` or `b`.
  bool lifted = false, keep_a = false, keep_b = false;
  NodeIndex alias;  // the node that this one was merged into, or -1
  // True if the block only pops the middle operand of a chained comparison, or follows only such blocks.
  bool is_chain_end = false;
  // True if the instructions of the node have so far only popped iterators.
  bool pops = false;
};

// The nodes and their states, indexed by block.
struct LiftedGraph {
  explicit LiftedGraph(std::size_t blocks) : nodes(blocks), states(blocks) {}

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
