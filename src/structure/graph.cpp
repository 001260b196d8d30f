#include "structure/graph.h"

#include <algorithm>
#include <functional>

#include "support/dominators.h"
#include "support/table.h"

namespace depyf {

Graph::Graph(Table<Node, NodeIndex>& nodes_in, NodeIndex entry_in) : nodes(nodes_in), entry(entry_in) { analyse(); }

Successors Graph::find_successors(NodeIndex node) const {
  const Node& info = nodes[node];
  switch (info.end) {
    case Node::End::go: return {{info.a}, 1};
    case Node::End::branch:
      // The branch with the lower offset stands first in the code.
      if (info.b < 0) return {{info.a}, 1};
      if (info.a >= 0 && nodes[info.b].offset < nodes[info.a].offset) return {{info.b, info.a}, 2};
      return {{info.a, info.b}, 2};
    case Node::End::loop:
    case Node::End::setup:
      if (info.b >= 0) return {{info.a, info.b}, 2};
      return {{info.a}, 1};
    // In 3.8, a node that ends in END_FINALLY has an edge to the code behind its try statement, although it always
    // raises.
    case Node::End::stop:
      if (info.a >= 0) return {{info.a}, 1};
      return {};
    case Node::End::none:
    case Node::End::leave: return {};
  }
  return {};
}

// Determines the reverse postorder by a depth-first search with an explicit stack, which also finds the successors of
// each node and counts the edges to it.
void Graph::find_order() {
  struct Frame {
    NodeIndex node;
    int left;  // the number of successors that have not been visited
  };
  Table<Frame> stack(nodes.size());  // a node is visited once
  sequence_.resize(nodes.size());
  int depth = 0, count = 0;
  auto enter = [&](NodeIndex node) {
    order_[node] = 0;
    const Successors next = find_successors(node);
    successors_[node] = next;
    for (NodeIndex to : next) ++first_pred_[to];
    stack[depth++] = {node, next.count};
  };
  enter(entry);
  while (depth > 0) {
    auto& [node, left] = stack[depth - 1];
    if (left == 0) {
      sequence_[count++] = node;
      --depth;
      continue;
    }
    // The last successor is visited first, so that the first successor comes first in reverse postorder.
    const NodeIndex to = successors_[node].nodes[--left];
    if (to >= 0 && order_[to] < 0) enter(to);
  }
  sequence_.resize(count);
  std::reverse(sequence_.begin(), sequence_.end());
  for (int index = 0; NodeIndex node : sequence_) order_[node] = index++;
}

// Counting sort of the edges by their target.
void Graph::find_preds() {
  int sum = 0;
  // `first_pred_[n]` is the end of the list of node n until the list is filled, from its end to its start.
  for (int& first : first_pred_) sum += first, first = sum;
  preds_.resize(sum);
  for (std::size_t index = sequence_.size(); index--;) {
    const NodeIndex node = sequence_[index];
    const Successors& next = successors(node);
    for (int at = next.count; at--;) {
      const NodeIndex to = next.nodes[at];
      preds_[--first_pred_[to]] = node;
      if (order_[node] < order_[to]) ++forward_preds_[to];
      else headers_.push_back(to);
    }
  }
}

// Numbers the dominator tree. A dominator comes earlier in the order, so the sizes of subtrees are summed up from the
// last node to the first, and then numbers are assigned from the first node to the last.
void Graph::number_dominators() {
  for (std::size_t index = sequence_.size(); index--;) {
    const NodeIndex node = sequence_[index];
    ++leave_[node];
    if (node != entry) leave_[idom_[node]] += leave_[node];
  }
  for (NodeIndex node : sequence_) {
    const NodeIndex above = idom_[node];
    if (node != entry) enter_[node] = next_[above], next_[above] += leave_[node];
    next_[node] = enter_[node] + 1;
    leave_[node] += enter_[node];
  }
}

// Sorts the nodes where several paths meet by their immediate dominators, with a counting sort.
void Graph::find_merges() {
  for (NodeIndex node : sequence_)
    if (is_merge(node)) ++first_merge_[idom_[node]];
  int sum = 0;
  for (int& first : first_merge_) sum += first, first = sum;
  merges_.resize(sum);
  for (std::size_t index = sequence_.size(); index--;)
    if (const NodeIndex node = sequence_[index]; is_merge(node)) merges_[--first_merge_[idom_[node]]] = node;
}

// The rows are parts of two vectors, because an allocation for each row would take longer than filling it.
void Graph::analyse() {
  irreducible_ = false;
  headers_.clear();
  const std::size_t count = nodes.size();
  successors_.assign(count, Successors());
  numbers_.assign(7 * count + 2, 0);
  node_numbers_.assign(3 * count, NodeIndex());
  std::size_t used = 0;
  auto take = [&](std::size_t size) {
    const Row<int, NodeIndex> part = Row<int, NodeIndex>(numbers_).part(used, size);
    used += size;
    return part;
  };
  first_pred_ = take(count + 1), first_merge_ = take(count + 1);
  enter_ = take(count), next_ = take(count), leave_ = take(count), forward_preds_ = take(count), order_ = take(count);
  std::fill(order_.begin(), order_.end(), -1);
  const Row<NodeIndex, NodeIndex> rows(node_numbers_);
  idom_ = rows.part(std::size_t{0}, count), loop_ = rows.part(count, count), outer_ = rows.part(2 * count, count);
  find_order();
  find_preds();
  immediate_dominators<NodeIndex>(sequence_, order_, [&](NodeIndex node) { return preds(node); }, idom_);
  number_dominators();
  find_merges();
  if (!has_loops()) return;
  find_loops();
  loops_ = Loops(outer_, sequence_, [&](NodeIndex node) { return loop_[node]; });
}

// Finds the innermost loop of each node. A loop consists of the nodes that lead back to a header that dominates them.
void Graph::find_loops() {
  Table<NodeIndex> todo;
  // Headers of inner loops come later in the order, so the headers are visited from the last to the first, and each
  // loop takes the nodes that no inner loop has taken.
  std::ranges::sort(headers_, std::greater(), [&](NodeIndex header) { return order_[header]; });
  headers_.erase(std::ranges::unique(headers_).begin(), headers_.end());
  for (const NodeIndex header : headers_) {
    const int index = order_[header];
    todo.clear();
    for (NodeIndex pred : preds(header))
      if (order_[pred] >= index) {
        if (!dominates(header, pred)) {
          irreducible_ = true;
          return;
        }
        todo.push_back(pred);
      }
    loop_[header] = header;
    while (!todo.empty()) {
      NodeIndex node = todo.back();
      todo.pop_back();
      // `top` becomes the header of the outermost loop around `node` that is known so far.
      NodeIndex top = node;
      if (loop_[top] >= 0) {
        top = loop_[top];
        while (outer_[top] >= 0) top = outer_[top];
        if (top == header) continue;
        outer_[top] = header;
      } else {
        loop_[top] = header;
      }
      for (NodeIndex pred : preds(top)) {
        if (order_[pred] < index) continue;
        if (!dominates(header, pred)) {
          irreducible_ = true;
          return;
        }
        todo.push_back(pred);
      }
    }
  }
}

bool Graph::in_loop(NodeIndex node, NodeIndex header) const {
  if (header < 0) return true;
  NodeIndex loop = loop_[node];
  while (loop >= 0 && loop != header) loop = outer_[loop];
  return loop == header;
}

}  // namespace depyf
