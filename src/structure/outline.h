// What the lifted graph says about statements before the first is placed. Nothing in it changes while they are.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/cfg.h"
#include "structure/graph.h"

namespace depyf {

class Outline : public Graph {
 public:
  // `may_return`: `return` is a statement here, which it is not in modules and class bodies.
  Outline(Version version, Lifted& lifted, const Cfg& cfg, bool may_return);

  const Cfg& cfg() const { return cfg_; }
  const Forest& regions() const { return regions_; }  // nodes by region
  // The offset of the last jump back to a node; to 3.9 it may be one that nothing reaches. 0: there is none.
  std::uint32_t loop_end(int header) const { return loop_end_[header]; }
  // 3.8: nodes that never go on, but say what stands behind their statement.
  const std::vector<int>& dead_ends() const { return dead_ends_; }
  // 3.8: the end of the handlers in `scope`, which raises again and leads on all the same; -1: none.
  int dead_end_of(int scope) const;
  // True if the node only returns, so that the statement may be written wherever control goes to it.
  bool trivial_tail(int node) const;
  // True if the node is the test of a case.
  bool is_case(int node) const;
  // The offset of a node's first instruction; its own `offset` is the one that it is known by.
  std::uint32_t start_of(int node) const;

 private:
  bool is_kept_back(const ast::Expr* value) const;
  void find_regions();
  void find_loop_ends();

  // star_ends.cpp
  void find_star_ends();
  bool end_with(int region, int tail);

  const Version version_;
  const Cfg& cfg_;
  Forest regions_;
  std::vector<char> after_star_;  // except* clauses go on to it: they must not return themselves
  std::vector<std::uint32_t> loop_end_;  // by header
  std::vector<int> dead_ends_;
  const bool may_return_;
};

}  // namespace depyf
