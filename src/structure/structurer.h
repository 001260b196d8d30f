// Nests the graph along its dominator tree: a node where ways meet stands after the node that dominates it, everything
// else where control comes from. What lies after a loop or a try is found from the ways out.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "structure/outline.h"
#include "structure/place.h"
#include "structure/structure.h"

namespace depyf {

// True if control never gets behind the statements.
bool leaves(std::span<ast::Stmt* const> statements);

class Structurer {
 public:
  Structurer(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return);
  ast::Block run();

 private:
  using Statements = std::vector<ast::Stmt*>;

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
  ast::Block block(const Statements& statements) { return context_.arena.copy(statements); }
  ast::Stmt* make(ast::Stmt::Node node, const Node& from) {
    return context_.stmt(std::move(node), from.offset, from.line, from.column, from.width);
  }
  [[noreturn]] void fail(const char* what, int node) const;

  // A file each
  int branch(int node, const Place& place, Statements& out, bool tail);  // branches.cpp
  int loop(int header, const Place& place, Statements& out);             // loops.cpp
  int protect(int setup, const Place& place, Statements& out);           // protected.cpp
  int with(int setup, const Place& place, Statements& out);              // with_statements.cpp
  int match(int first, const Place& place, Statements& out);             // match.cpp

  Context& context_;
  const Outline outline_;
  const std::vector<Node>& nodes_;
  const Cfg& cfg_;
  const std::vector<std::pair<int, int>>& finally_ends_;
  Claims claims_;
  int depth_ = 0;
};

}  // namespace depyf
