// The facts of the lifted graph that are known before the first statement is placed. They do not change afterwards.
#pragma once

#include <cstdint>
#include <map>

#include "flow/cfg.h"
#include "structure/graph.h"
#include "support/table.h"

namespace depyf {

class Outline : public Graph {
 public:
  // `may_return` is false for modules and class bodies, where `return` is no statement.
  Outline(Version version, Lifted& lifted, const Cfg& cfg, bool may_return);

  const Cfg& cfg() const { return cfg_; }
  const Forest<RegionIndex, NodeIndex>& regions() const { return regions_; }  // the nodes of each region
  // Returns the offset of the last jump back to the header of a loop, or 0 if there is none. Up to 3.9, that jump may be unreachable.
  std::uint32_t loop_end(NodeIndex header) const { return loop_end_[header]; }
  // Returns the nodes of 3.8 that never go on, but name the code behind their statement (see replace_block_stack).
  const Table<NodeIndex>& dead_ends() const { return dead_ends_; }
  // In 3.8: returns the node in `scope` that ends the handlers by raising again, and names the code behind the
  // statement; -1 if there is none.
  NodeIndex dead_end_of(RegionIndex scope) const;
  // In 3.8: returns the node that starts at the offset; -1 if there is none, or if no statement has handlers.
  NodeIndex node_at(std::uint32_t offset) const;
  // True if the node only returns, so that a copy of the return may be written at each place that leads to it.
  bool trivial_tail(NodeIndex node) const;
  // True if the node is the test of a case.
  bool is_case(NodeIndex node) const;
  // Returns the offset of the first instruction of a node. `Node::offset` may be changed, as it decides the order.
  std::uint32_t start_of(NodeIndex node) const;

 private:
  bool is_kept_back(const ast::Expr* value) const;
  void find_regions();
  void find_loop_ends();

  // star_ends.cpp
  void find_star_ends();
  bool end_with(RegionIndex region, NodeIndex tail);

  const Version version_;
  const Cfg& cfg_;
  Forest<RegionIndex, NodeIndex> regions_;
  // By node: true if clauses of `except*` go on to it, which must not contain a return themselves. Empty if there are no
  // such clauses.
  Table<char> after_star_;
  Table<std::uint32_t> loop_end_;  // by header
  Table<NodeIndex> dead_ends_;
  std::map<std::uint32_t, NodeIndex> node_at_;  // by offset; empty without `dead_ends_`
  const bool may_return_;
};

}  // namespace depyf
