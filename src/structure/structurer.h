// Nests the graph along its dominator tree: a node where ways meet stands after the node that dominates it, everything
// else where control comes from. What lies after a loop or a try is found from the ways out.
#pragma once

#include <set>
#include <span>
#include <vector>

#include "structure/graph.h"
#include "structure/structure.h"

namespace depyf {

// `statements`, which it changes, without what only the stages before know.
ast::Block clean(Context& context, ast::Block statements);

class Structurer {
 public:
  Structurer(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return);
  ast::Block run();

 private:
  using Statements = std::vector<ast::Stmt*>;
  // Where control goes from the place at work without a jump, by `continue`, by `break`; the region it lies in.
  struct Place {
    int next = -1, cont = -1, brk = -1, region = -1, loop = -1;
    bool jumps_to(int node) const { return node == cont || node == brk; }
    bool leads_to(int node) const { return node == next || jumps_to(node); }
  };
  // The ways out of a loop.
  struct LoopExits {
    std::set<int> exits;        // where they lead
    std::set<int> lexical;  // what lies on them in statements that begin in the loop: handlers, and what leaves those
    std::vector<int> go_round;  // 3.8: statements in the loop, where what stands behind their handlers leads back
    std::uint32_t last = 0;  // offset of the loop's end: what lies before is no place to go on
  };

  // Of these, those that place what starts at a node return the node to go on with at the same place, or -1.

  // structurer.cpp
  void emit(int node, Place place, Statements& out);
  int terminator(int node, const Place& place, Statements& out, bool tail);
  int go(int target, const Place& place, Statements& out, bool tail);
  void go_into(int node, const Place& place, Statements& out);
  int step_to(int node, Place& place) const;
  void place_node(int node, Place place, Statements& out);
  int place_all(const std::vector<int>& nodes, const Place& place, Statements& out);
  std::vector<int> merges(int node, const Place& place);
  std::vector<int> exits_of(int region, int first, const Place& place) const;
  bool trivial_tail(int node) const;
  bool is_kept_back(const ast::Expr* value) const;
  bool leaves(std::span<ast::Stmt* const> out) const;
  void find_regions();
  ast::Block block(const Statements& statements) { return context_.arena.copy(statements); }
  ast::Stmt* make(ast::Stmt::Node node, const Node& from) {
    return context_.stmt(std::move(node), from.offset, from.line, from.column, from.width);
  }
  [[noreturn]] void fail(const char* what, int node) const;

  // branches.cpp
  int branch(int node, const Place& place, Statements& out, bool tail);
  bool skips_else(int first, int second, const Statements& body) const;

  // loops.cpp
  int loop(int header, const Place& place, Statements& out);
  bool stands_within(int header, int exit) const;

  // loop_ends.cpp
  void find_loop_ends();
  int after_loop(int header, int exhausted, const Place& place) const;
  LoopExits loop_exits(int header, int exhausted, const Place& place) const;
  int after_else(int header, int exhausted, const Place& place, const LoopExits& ways) const;
  int after_endless(int header, const Place& place, const LoopExits& ways) const;
  int after_single_pass(int header, int body, int exhausted, const Place& place) const;
  bool reaches(int from, int to, const Place& place) const;
  int else_meet(int header, int exit, int exhausted, const Place& place) const;
  int behind_break(int header, int exit) const;
  bool leaves_at_once(int node) const;
  bool leaves_for_good(int node, const Place& place) const;

  // protected.cpp
  int protect(int setup, const Place& place, Statements& out);
  int dead_end_of(int scope) const;
  std::uint32_t start_of(int node) const;
  bool handler_falls(int handler, int scope, const Place& place) const;

  // with_statements.cpp
  int with(int setup, const Place& place, Statements& out);

  // handlers.cpp
  std::vector<ast::ExceptHandler> handlers(const Statements& body);
  Statements without_exception(const Statements& body);

  // match.cpp
  bool is_case(int node) const;
  int guard_of(int test) const;
  int match(int first, const Place& place, Statements& out);

  // star_ends.cpp
  void find_star_ends();
  bool end_with(int region, int tail);

  Context& context_;
  Graph graph_;
  Forest regions_;  // nodes by region
  std::vector<Node>& nodes_;
  const Cfg& cfg_;
  const std::vector<std::pair<int, int>>& finally_ends_;
  std::vector<char> claimed_;  // some place has it already
  std::vector<char> emitted_;
  std::vector<char> after_star_;  // except* clauses go on to it: they must not return themselves
  std::vector<std::uint32_t> loop_end_;  // by header: the last jump back to it, which to 3.9 may be one nothing reaches
  std::vector<int> dead_ends_;  // nodes that never go on but say what stands behind
  bool may_return_;  // `return` is a statement here: not in modules and class bodies
  int depth_ = 0;
};

}  // namespace depyf
