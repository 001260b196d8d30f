// Nests the statements along the dominator tree of the graph. A node where ways meet is placed behind the statement of
// the node that dominates it. Any other node is placed where control comes from. The code behind a loop or try
// statement is found by the ways out of the statement.
#pragma once

#include <span>
#include <utility>

#include "structure/outline.h"
#include "structure/place.h"
#include "structure/structure.h"
#include "support/table.h"

namespace depyf {

// True if control never reaches the end of the statements.
bool leaves(std::span<ast::Stmt* const> statements);

// By node: where the block ends that starts at the node and that `break` leaves; -1 if no such block starts there.
using BlockEnds = Table<NodeIndex, NodeIndex>;

// Ways meet at a node where no statement ends.
struct WaysMeet : InternalError {
  NodeIndex node;
};

// Places the nodes of one graph as statements.
class Structurer {
 public:
  Structurer(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return, const BlockEnds& block_ends);
  // Throws WaysMeet, or another InternalError.
  ast::Block run();
  // Returns the node where a block that ends at `end` may start, around the one of `block_ends` if there is one; -1 if there
  // is none.
  NodeIndex start_of_block(NodeIndex end) const;  // single_pass.cpp

 private:
  using Statements = Table<ast::Stmt*>;

  // Functions that return a node return the node to go on with at the same place, or -1 if there is none.

  // structurer.cpp
  // Writes the statements from `node` on into `out`, as far as they belong to `place`.
  void emit(NodeIndex node, Place place, Statements& out);
  // Writes the end of a node. With `tail`, the successor may be returned instead of being placed.
  NodeIndex terminator(NodeIndex node, const Place& place, Statements& out, bool tail);
  // Goes on to `target`: by nothing, a jump, a copied return, or by placing it.
  NodeIndex go(NodeIndex target, const Place& place, Statements& out, bool tail);
  // Writes the body of a statement, whose first node is `node`.
  void go_into(NodeIndex node, const Place& place, Statements& out);
  // Sets the loop of `place` to that of `node`, if the node lies outside of the current loop. Returns `node`.
  NodeIndex step_to(NodeIndex node, Place& place) const;
  // Writes `node` behind a statement.
  void place_node(NodeIndex node, Place place, Statements& out);
  // Writes `nodes` one behind the other. Returns the last, which is left to the caller.
  NodeIndex place_all(const Table<NodeIndex>& nodes, const Place& place, Statements& out);
  // Returns the nodes that belong behind `node`, since ways from it meet there.
  Table<NodeIndex> merges(NodeIndex node, const Place& place);
  // Returns the nodes outside `region` to which only ways from within the region lead.
  // True if a statement at `place` that goes on to `follow` is where that node is placed. The place may lead to the node by
  // itself, and a `continue` may leave statements around the place.
  bool is_placed_behind(NodeIndex follow, const Place& place) const {
    return follow >= 0 && !place.leads_to(follow) && !nodes_[follow].left_by_statement;
  }
  Table<NodeIndex> exits_of(RegionIndex region, NodeIndex first, const Place& place) const;
  static void append(Statements& out, const Table<ast::Stmt*>& statements) {
    constexpr std::size_t usual_block = 8;  // most blocks have fewer statements
    if (out.capacity() == 0) out.reserve(usual_block);
    for (ast::Stmt* stmt : statements) out.push_back(stmt);
  }
  ast::Block block(const Statements& statements) { return context_.arena.copy(statements); }
  template <class Kind>
  ast::Stmt* make(const Kind& kind, const Node& from) {
    return context_.stmt(kind, from.offset, from.line, from.column, from.width);
  }
  // Throws InternalError with the offset of `node`.
  [[noreturn]] void fail(const char* what, NodeIndex node) const;

  bool is_behind_start(const Node& test, const Place& place) const;
  bool is_continue_elsewhere(const Place& place) const;
  [[noreturn]] void fail_of_ends(NodeIndex setup, NodeIndex end) const;  // protected.cpp
  NodeIndex behind_else(NodeIndex orelse, NodeIndex dead_end, const Place& place) const;  // protected.cpp

  // Each of these functions has a file of its own.
  NodeIndex branch(NodeIndex node, const Place& place, Statements& out, bool tail);  // branches.cpp
  NodeIndex loop(NodeIndex header, const Place& place, Statements& out);             // loops.cpp
  NodeIndex protect(NodeIndex setup, const Place& place, Statements& out);           // protected.cpp
  NodeIndex with(NodeIndex setup, const Place& place, Statements& out);              // with_statements.cpp
  NodeIndex match(NodeIndex first, const Place& place, Statements& out);             // match.cpp
  NodeIndex single_pass(NodeIndex start, const Place& place, Statements& out);       // single_pass.cpp

  Context& context_;
  const Outline outline_;
  const Table<Node, NodeIndex>& nodes_;
  const Cfg& cfg_;
  const Table<std::pair<RegionIndex, NodeIndex>>& finally_ends_;
  const BlockEnds& block_ends_;
  Claims claims_;
  int depth_ = 0;
};

}  // namespace depyf
