// The state of the stack simulation, and how a statement is made: what waits on the stack and was evaluated before it gets a name,
// unless nothing can change its value.
#pragma once

#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lift/cursor.h"
#include "lift/lifted_graph.h"
#include "lift/stable_names.h"

namespace depyf::lifting {

// Lifting starts again with these instructions taken literally: what a swap or copy moves is given a name first.
struct Restart {
  int at;
};

// Targets of one unpacking, filled by the stores that follow it.
struct Unpacking {
  Entry source;
  std::vector<ast::Expr*> markers, targets;
  int star = -1;
  std::size_t filled = 0;
  bool open = true;
  int at = 0;
};

// SWAP before stores: `a, b = x, y`.
struct SwapGroup {
  std::vector<ast::Expr*> values;  // in order of evaluation
  std::vector<ast::Expr*> targets;  // in order of the stores
};

// Assignments that more stores belong to.
struct PendingStores {
  std::vector<Unpacking> unpackings;
  std::vector<SwapGroup> swaps;
  std::unordered_map<const ast::Expr*, int> swap_of;
};

// Chained comparisons.
struct Chains {
  std::set<int> blocks;  // those that only clean up after one
  int fails = -1;  // where the last one goes where a part before its last does not hold
};

// Code that evaluates the type parameters of a definition, and returns that.
struct GenericScope {
  bool is_open = false;
  ast::Expr* class_params = nullptr;  // the tuple in `.type_params`
};

class Simulation {
 public:
  Simulation(Context& context, const DecodedCode& decoded, const Cfg& cfg, bool flat, const std::set<int>& literal,
             Split split);

  void push(ast::Expr::Node node);
  void push(ast::Expr* expr);
  // Pops an operand.
  ast::Expr* pop();
  Entry pop_entry();
  std::vector<ast::Expr*> pop_many(int count);
  // 1: the top.
  Entry& peek(int from_top);

  void emit(ast::Stmt::Node node);
  void emit_raw(ast::Stmt::Node node);
  // What only the simulation knows becomes something that Python has before it stands in a statement.
  void settle(ast::Expr*& expr);
  void spill(Entry& entry);
  // Of the lowest `count` entries, those that are not stable.
  void spill_all(std::size_t count);
  // Gives names to the unstable values at the end of `node`, in the order in which they were made.
  void spill_at_end(int node, std::size_t count);

  Context& context;
  Cursor cursor;
  StableNames names;
  LiftedGraph graph;
  Stack stack;
  PendingStores stores;
  Chains chains;
  GenericScope generics;
  std::set<std::string_view> bound_names;  // names that handlers bind
  std::set<std::string_view> subjects;  // names that match statements give to what they match
  std::unordered_map<int, int> with_at;  // by first instruction of the body: region of the with statement
  std::vector<ast::Expr*> items;  // what for loops bind

 private:
  std::vector<ast::Expr**> settling_;  // what is left of each `settle` at work
};

}  // namespace depyf::lifting
