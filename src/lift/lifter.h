// The stack simulation behind lift.h. One instruction does one small thing to a symbolic stack; simulate.cpp is the file to
// read first.
#pragma once

#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lift/edges.h"
#include "lift/simulation.h"

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
  void lift_block(int block);
  void count_iterators(int block);
  bool only_after_chains(int block) const;
  void simulate(int begin, int end);

  // merge.cpp
  void enter(int block);  // sets the node at work and its stack
  void enter_merge(int block, const std::vector<Edge>& edges);
  void finish_block(int block);
  void settle_ends();

  // flat.cpp
  ast::Expr* slot(std::size_t index);
  void flat_enter(int block, std::vector<ast::Expr*> stack);
  void flat_end(int block);

  Simulation sim_;
  Context& context_;
  Cursor& cursor_;
  LiftedGraph& graph_;
  Stack& stack_;
  const bool comprehension_;
  std::unordered_map<int, Stack> header_stacks_;  // at the start of each loop
  std::vector<std::optional<std::vector<ast::Expr*>>> flat_stacks_;
  std::vector<int> flat_todo_;
};

}  // namespace depyf::lifting
