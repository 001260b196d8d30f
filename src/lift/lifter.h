// The simulation of the stack behind lift.h. Each instruction does one small thing to a stack of expressions.
// simulate.cpp is the file to read first.
#pragma once

#include <map>
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
  // simulate.cpp
  // Lifts one block.
  void lift_block(NodeIndex block);
  // Counts the iterators of for loops on the stack.
  void count_iterators(NodeIndex block);
  // True if only the cleanup code of chained comparisons leads to `block`.
  bool only_after_chains(NodeIndex block) const;
  // Simulates the instructions [begin, end).
  void simulate(int begin, int end);

  // merge.cpp
  // Sets the current node and its stack for `block`.
  void enter(NodeIndex block);
  bool may_follow(NodeIndex block) const;
  void name_values_below_loop(NodeIndex block, const Table<Edge>& edges);
  // Makes the stack where several edges meet.
  void enter_merge(NodeIndex block, const Table<Edge>& edges);
  // Records how the block ends, and checks back edges.
  void finish_block(NodeIndex block);
  void check_back_edge();
  // Gives names to values that are still waiting at the ends of nodes.
  void settle_ends();

  // flat.cpp
  // Returns the local that holds slot `index` of the stack between blocks.
  ast::Expr* slot(std::size_t index);
  // Records the stack with which `block` starts, and that the block must be lifted.
  void flat_enter(NodeIndex block, Table<ast::Expr*> stack);
  // Stores the stack in slots at the end of `block`.
  void flat_end(NodeIndex block);

  Simulation sim_;
  Context& context_;
  Cursor& cursor_;
  LiftedGraph& graph_;
  Stack& stack_;
  const bool comprehension_;  // the code is that of a comprehension that makes a display
  Table<Edge> edges_;  // those to the current block
  std::map<int, Stack> header_stacks_;  // by loop header: the stack at its start
  // By block, for `run_flat`: the stack at its start.
  Table<std::optional<Table<ast::Expr*>>> flat_stacks_;
  Table<NodeIndex> flat_todo_;
};

}  // namespace depyf::lifting
