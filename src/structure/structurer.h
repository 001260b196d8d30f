// Nests the statements along the dominator tree of the graph. A node where several paths meet is placed behind the
// statement of its immediate dominator; a node with one predecessor is placed in the statement of the predecessor. The
// code behind a loop or try statement is found by following the paths out of the statement.
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

// Maps a node to the end of the `while True:` block that starts at the node and that `break` leaves (see
// single_pass.cpp); -1 if no block starts at the node. The table is empty if no block starts at any node, as for most
// code.
using BlockEnds = Table<NodeIndex, NodeIndex>;

// Thrown if several paths meet at `node`, although no statement ends in front of it.
struct WaysMeet : InternalError {
  NodeIndex node;
};

// Places the nodes of one graph as statements.
class Structurer {
 public:
  Structurer(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return, const BlockEnds& block_ends);
  // Returns the statements of the whole graph. Throws WaysMeet, or another InternalError, if the graph cannot be
  // written as nested statements.
  Structured run();
  // Returns the node where a `while True:` block that ends at `end` may start; -1 if no node can start this block. If
  // `block_ends` already contains a block that ends at `end`, the returned node dominates the start of the block in
  // `block_ends`.
  NodeIndex start_of_block(NodeIndex end) const;  // single_pass.cpp

 private:
  using Statements = Table<ast::Stmt*>;

  // Functions that return a single node return the node that the caller has to write next at the same place, or -1 if
  // the caller has to write none.

  // The following functions are in structurer.cpp.

  // Returns the end of the `while True:` block that starts at `node`; -1 if no block starts there.
  NodeIndex end_of_block(NodeIndex node) const { return block_ends_.empty() ? NodeIndex() : block_ends_[node]; }
  // Writes `node` and the nodes that come after it into `out`, until no further node has to be written at `place`.
  void emit(NodeIndex node, Place place, Statements& out);
  // Writes the end of a node, such as a branch. If `tail` is true, the successor of the node may be returned to the
  // caller instead of being written.
  NodeIndex terminator(NodeIndex node, const Place& place, Statements& out, bool tail);
  // Writes the transfer of control to `target`: nothing, `continue`, `break`, a copied return, or the statements of
  // `target` itself.
  NodeIndex go(NodeIndex target, const Place& place, Statements& out, bool tail);
  // Writes the body of a statement; `node` is the first node of the body.
  void go_into(NodeIndex node, const Place& place, Statements& out);
  // Sets the loop of `place` to the loop around `node`, if `node` lies outside of the loop of `place`. Returns `node`.
  NodeIndex step_to(NodeIndex node, Place& place) const {
    if (node >= 0 && place.loop >= 0 && !outline_.in_loop(node, place.loop)) leave_loop(node, place);
    return node;
  }
  void leave_loop(NodeIndex node, Place& place) const;
  // Like `emit`, but first sets the loop of `place` to the loop around `node` if `node` lies outside of the loop of
  // `place` (see `step_to`).
  void place_node(NodeIndex node, Place place, Statements& out);
  // Writes all `nodes` but the last, one behind the other. Returns the last node, which the caller has to write; -1 if
  // `nodes` is empty.
  NodeIndex place_all(const Table<NodeIndex>& nodes, const Place& place, Statements& out);
  // Returns the nodes at which paths from `node` meet, and which therefore have to be written behind the statement of
  // `node`.
  Table<NodeIndex> merges(NodeIndex node, const Place& place);
  // True if the node `follow`, at which control goes on behind a statement at `place`, has to be placed behind this
  // statement. Returns false if `place` leads to `follow` anyway, or if `follow` is a `continue` that leaves enclosing
  // statements.
  bool is_placed_behind(NodeIndex follow, const Place& place) const {
    return follow >= 0 && !place.leads_to(follow) && !nodes_[follow].left_by_statement;
  }
  // Returns nodes outside `region` to which edges from nodes of `region` lead. `first`, the first node of `region`,
  // dominates every returned node. Nodes to which `place` leads anyway (Place::leads_to), nodes that another place has
  // reserved (Claim::claimed), and most returns are left out.
  Table<NodeIndex> exits_of(RegionIndex region, NodeIndex first, const Place& place) const;
  static void append(Statements& out, const StatementList& statements) {
    constexpr std::size_t usual_block = 8;  // most blocks have fewer statements
    if (out.capacity() == 0) out.reserve(usual_block);
    for (ast::Stmt* stmt : statements) out.push_back(stmt);
  }
  ast::Block block(const Statements& statements) { return context_.arena.copy(statements); }
  template <class Kind>
  ast::Stmt* make(const Kind& kind, const Node& from) {
    ast::Stmt* stmt = context_.stmt(kind, from.offset, from.line, from.column, from.width);
    if constexpr (std::is_same_v<Kind, ast::Return>) returns_.push_back(stmt);
    return stmt;
  }
  // Throws InternalError with the offset of `node`.
  [[noreturn]] void fail(const char* what, NodeIndex node) const;

  bool is_behind_start(const Node& test, const Place& place) const;
  bool is_continue_elsewhere(const Place& place) const;
  [[noreturn]] void fail_of_ends(NodeIndex setup, NodeIndex end) const;  // protected.cpp
  NodeIndex behind_else(NodeIndex orelse, NodeIndex dead_end, const Place& place) const;  // protected.cpp

  // Each of the following functions has a file of its own.
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
  Statements returns_;  // all return statements
  int depth_ = 0;
};

}  // namespace depyf
