// Computes the order, the dominators and the loops of the lifted graph, as structuring needs them.
#pragma once

#include "flow/cfg.h"
#include "lift/lift.h"
#include "support/forest.h"
#include "support/table.h"

namespace depyf {

// The successors of a node, at most two, in the order of their code. Only the first `count` items of `nodes` are
// successors.
struct Successors {
  int nodes[2] = {};
  int count = 0;
  const int* begin() const { return nodes; }
  const int* end() const { return nodes + count; }
};

// A graph of lifted nodes. Changes of edges take effect with the next call of `analyse`.
class Graph {
 public:
  Graph(Table<Node, NodeIndex>& nodes, NodeIndex entry);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Computes all facts that the functions below return. `analyse` has to be called after any change of edges.
  void analyse();
  bool irreducible() const { return irreducible_; }
  bool has_loops() const { return !headers_.empty(); }
  // Returns the successors of a reachable node.
  const Successors& successors(NodeIndex node) const { return successors_[node]; }
  // Returns the predecessors of a node, one for each edge.
  Row<const NodeIndex> preds(NodeIndex node) const {
    return Row<const NodeIndex>(preds_).part(first_pred_[node], first_pred_[node + 1] - first_pred_[node]);
  }
  // Returns the number of edges to the node that are no back edges.
  int forward_preds(NodeIndex node) const { return forward_preds_[node]; }
  // Returns the position of the node in reverse postorder; -1 if the node cannot be reached.
  int order(NodeIndex node) const { return order_[node]; }
  // Returns the immediate dominator of the node; the entry itself for the entry.
  int idom(NodeIndex node) const { return idom_[node]; }
  // Returns the header of the innermost loop around the node; -1 if the node is in no loop. A header is in its own
  // loop.
  int loop_of(NodeIndex node) const { return loop_[node]; }
  // Returns the header of the loop around the loop at `header`; -1 if the loop is in no other loop.
  int outer_loop(NodeIndex header) const { return outer_[header]; }
  bool is_header(NodeIndex node) const { return loop_[node] == node; }
  // True if the node lies in the loop at `header` or in a loop within it. A header of -1 stands for the whole function.
  bool in_loop(NodeIndex node, NodeIndex header) const;
  // Returns true if `a` dominates `b`. `dominates` must not be called for a graph that has neither loops nor setup
  // nodes.
  bool dominates(int a, int b) const { return enter_[a] <= enter_[b] && leave_[b] <= leave_[a]; }
  // Returns the nodes where several paths from `node` meet, in reverse postorder: those whose immediate dominator is
  // `node`, and which have several predecessors, not counting back edges.
  Row<const NodeIndex> merges_of(NodeIndex node) const {
    return Row<const NodeIndex>(merges_).part(first_merge_[node], first_merge_[node + 1] - first_merge_[node]);
  }
  // Returns the nodes of the loop at `header` and of the loops within it.
  Row<const NodeIndex> members(NodeIndex header) const { return loops_.of(loop_numbers_[header]); }
  // Returns the nodes that can be reached, in reverse postorder.
  const Table<NodeIndex>& sequence() const { return sequence_; }

  Table<Node, NodeIndex>& nodes;
  NodeIndex entry;

 private:
  using Loops = Forest<int, NodeIndex>;

  void find_order();
  void find_preds();
  void number_dominators();
  void find_merges();
  bool is_merge(NodeIndex node) const { return forward_preds_[node] > 1; }
  void find_loops();
  void find_members();

  Table<Successors, NodeIndex> successors_;
  // The members of the type Row<int, NodeIndex> below are parts of `numbers_`, and those of the type Row<NodeIndex,
  // NodeIndex> are parts of `node_numbers_`.
  Table<int> numbers_;
  Table<NodeIndex> node_numbers_;
  // The predecessors of node n are preds_[first_pred_[n]] to preds_[first_pred_[n + 1]], the end excluded.
  Row<int, NodeIndex> first_pred_, first_merge_;
  // Each node has an interval of numbers, from `enter_` to `leave_`, which encloses the intervals of all nodes that it
  // dominates. While the numbers are assigned, `next_` is the first number in the interval that no dominated node has
  // yet.
  Row<int, NodeIndex> enter_, next_, leave_;
  Row<int, NodeIndex> forward_preds_, order_;
  Row<NodeIndex, NodeIndex> idom_, loop_, outer_;
  Row<int, NodeIndex> loop_numbers_;  // the number of each loop, indexed by its header
  Table<NodeIndex> preds_, merges_, sequence_;
  Loops loops_;
  Table<NodeIndex> headers_;  // the targets of back edges
  bool irreducible_ = false;
  bool has_setups_ = false;  // true if some node enters a region
};

}  // namespace depyf
