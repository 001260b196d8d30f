// Implements lift.h by simulating the operand stack: each instruction pops expressions from the simulated stack and
// pushes expressions. Read simulate.cpp first.
#pragma once

#include <optional>
#include <set>
#include <utility>

#include "lift/edges.h"
#include "lift/simulation.h"
#include "support/table.h"

namespace depyf::lifting {

class Lifter {
 public:
  Lifter(Context& context, const DecodedCode& decoded, const Cfg& cfg, bool flat, const std::set<int>& literal,
         Split split = Split::none);
  Lifted run();
  Lifted run_flat();  // flat.cpp
  ast::Expr* run_generic();  // generics.cpp

 private:
  // The following functions are in simulate.cpp.
  // Lifts one block.
  void lift_block(NodeIndex block);
  // Counts the iterators of for loops that are on the stack at the start of `block`.
  void count_iterators(NodeIndex block);
  // True if only the cleanup code of chained comparisons leads to `block`.
  bool only_after_chains(NodeIndex block) const;
  // Simulates the instructions [begin, end).
  void simulate(int begin, int end);

  // The following functions are in merge.cpp.
  // Selects the node that `block` is lifted into, and sets the stack at the start of `block`.
  void enter(NodeIndex block);
  bool may_follow(NodeIndex block) const;
  void name_values_below_loop(NodeIndex block, const Table<Edge>& edges);
  // Creates the stack at the start of `block` from the stacks along its incoming edges.
  void enter_merge(NodeIndex block, const Table<Edge>& edges);
  // Records the successors of `block`, and checks the stack along a back edge.
  void finish_block(NodeIndex block);
  void check_back_edge();
  // Stores values that are still on the stack at the end of a node in temporaries.
  void settle_ends();

  // The following functions are in flat.cpp.
  // Returns the local that holds slot `index` of the stack between blocks.
  ast::Expr* slot(std::size_t index);
  // Records the stack with which `block` starts, and adds `block` to the blocks that are still to be lifted.
  void flat_enter(NodeIndex block, Table<ast::Expr*> stack);
  // Stores the stack at the end of `block` in the locals `__stack_0`, `__stack_1` and so on.
  void flat_end(NodeIndex block);

  Simulation sim_;
  Context& context_;
  Cursor& cursor_;
  LiftedGraph& graph_;
  Stack& stack_;
  // True if the code object is that of a list, set or dict comprehension.
  const bool comprehension_;
  Table<Edge> edges_;  // the incoming edges of the current block
  bool keeps_values_ = false;  // true if a value is on the stack at the end of some node
  // For `run_flat`: the stack at the start of each block (nullopt if it is not known yet), and the blocks that are
  // still to be lifted.
  struct FlatBlocks {
    Table<std::optional<Table<ast::Expr*>>> stacks;
    Table<NodeIndex> todo;
  };
  FlatBlocks* flat_ = nullptr;
};

}  // namespace depyf::lifting
