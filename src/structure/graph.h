// The lifted graph as structuring needs it: order, dominators, loops.
#pragma once

#include <vector>

#include "flow/cfg.h"
#include "lift/lift.h"

namespace depyf {

class Graph {
 public:
  Graph(std::vector<Node>& nodes, int entry);

  void analyse();                                   // after any change of edges
  bool irreducible() const { return irreducible_; }
  std::vector<int> successors(int node) const;
  const std::vector<int>& preds(int node) const { return preds_[node]; }          // one an edge
  int forward_preds(int node) const { return forward_preds_[node]; }              // edges that are no back edges
  int order(int node) const { return order_[node]; }                              // -1: cannot be reached
  int idom(int node) const { return idom_[node]; }
  int loop_of(int node) const { return loop_[node]; }  // header of the innermost loop; a header's own
  int outer_loop(int header) const { return outer_[header]; }
  bool is_header(int node) const { return loop_[node] == node; }
  bool in_loop(int node, int header) const;
  bool dominates(int a, int b) const;
  const std::vector<int>& sequence() const { return sequence_; }  // reverse postorder

  std::vector<Node>& nodes;
  int entry;

 private:
  std::vector<std::vector<int>> preds_;
  std::vector<int> forward_preds_, order_, idom_, loop_, outer_, sequence_;
  bool irreducible_ = false;
};

}  // namespace depyf
