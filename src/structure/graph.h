// The lifted graph as structuring needs it: order, dominators, loops.
#pragma once

#include <span>
#include <vector>

#include "flow/cfg.h"
#include "lift/lift.h"
#include "support/forest.h"

namespace depyf {

// The nodes that may come after one, what stands first in the code first; at most two.
struct Successors {
  int nodes[2] = {};
  int count = 0;
  const int* begin() const { return nodes; }
  const int* end() const { return nodes + count; }
};

class Graph {
 public:
  Graph(std::vector<Node>& nodes, int entry);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void analyse();                                   // after any change of edges
  bool irreducible() const { return irreducible_; }
  const Successors& successors(int node) const { return successors_[node]; }
  std::span<const int> preds(int node) const {                                    // one an edge
    return std::span(preds_).subspan(first_pred_[node], first_pred_[node + 1] - first_pred_[node]);
  }
  int forward_preds(int node) const { return forward_preds_[node]; }              // edges that are no back edges
  int order(int node) const { return order_[node]; }                              // -1: cannot be reached
  int idom(int node) const { return idom_[node]; }
  int loop_of(int node) const { return loop_[node]; }  // header of the innermost loop; a header's own
  int outer_loop(int header) const { return outer_[header]; }
  bool is_header(int node) const { return loop_[node] == node; }
  bool in_loop(int node, int header) const;
  bool dominates(int a, int b) const { return enter_[a] <= enter_[b] && leave_[b] <= leave_[a]; }
  std::span<const int> dominated(int node) const {  // those whose immediate dominator it is, in their order
    return std::span(dominated_).subspan(first_dominated_[node], first_dominated_[node + 1] - first_dominated_[node]);
  }
  std::span<const int> members(int header) const { return loops_.of(header); }  // of the loop and those in it
  const std::vector<int>& sequence() const { return sequence_; }  // reverse postorder

  std::vector<Node>& nodes;
  int entry;

 private:
  Successors find_successors(int node) const;
  void find_order();
  void find_preds();
  void find_dominated();
  void find_loops();

  std::vector<Successors> successors_;           // by node
  std::vector<int> numbers_;                     // what the spans below show
  std::span<int> first_pred_, first_dominated_;  // of node n: preds_[first_pred_[n] .. first_pred_[n + 1])
  std::span<int> enter_, leave_;  // a walk of the dominator tree: a node's are around those of what it dominates
  std::span<int> forward_preds_, order_, idom_, loop_, outer_;
  std::vector<int> preds_, dominated_, sequence_;
  Forest loops_;
  bool irreducible_ = false;
};

}  // namespace depyf
