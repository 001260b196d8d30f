// Derives the facts about the lifted graph that are known before the first statement is placed and do not change
// afterwards.
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
  // Returns the bytecode offset of the last jump back to the loop header `header`; 0 if no jump leads back. Up to 3.9,
  // the last jump back may be unreachable.
  std::uint32_t loop_end(NodeIndex header) const { return loop_end_[header]; }
  // In 3.8: returns the nodes whose last instruction is an END_FINALLY that always raises. Although control never goes
  // on behind the END_FINALLY, an edge leads from the node to the code behind its try statement (see
  // replace_block_stack).
  const Table<NodeIndex>& dead_ends() const { return dead_ends_; }
  // In 3.8: returns the node in the region `scope` that raises the exception again at the end of the handlers, and has
  // an edge to the code behind the try statement; -1 if there is no such node.
  NodeIndex dead_end_of(RegionIndex scope) const;
  // In 3.8: returns the node that starts at the offset; -1 if no node starts at the offset, or if `dead_ends` is
  // empty.
  NodeIndex node_at(std::uint32_t offset) const;
  // True if the node only returns, so that a copy of the return may be written at each place that leads to it.
  bool trivial_tail(NodeIndex node) const;
  bool may_return() const { return may_return_; }
  // True if the node branches on whether the subject matches the pattern of a case of a match statement.
  bool is_case(NodeIndex node) const;
  // Returns the offset of the first instruction of a node. `Node::offset` may differ from the offset of the first
  // instruction, because passes change `Node::offset` to order the nodes.
  std::uint32_t start_of(NodeIndex node) const;

 private:
  bool is_kept_back(const ast::Expr* value) const;
  void find_regions();
  void find_loop_ends();

  // The next two functions are defined in star_ends.cpp.
  void find_star_ends();
  bool end_with(RegionIndex region, NodeIndex tail);

  const Version version_;
  const Cfg& cfg_;
  Forest<RegionIndex, NodeIndex> regions_;
  // By node: true if control goes from an `except*` clause to the node, so that a return in the node must not be copied
  // into the clause. The table is empty if the code has no `except*`.
  Table<char> after_star_;
  Table<std::uint32_t> loop_end_;  // by header: the offset of the last jump back to the header
  Table<NodeIndex> dead_ends_;
  std::map<std::uint32_t, NodeIndex> node_at_;  // the node at each offset; empty without `dead_ends_`
  const bool may_return_;
};

}  // namespace depyf
