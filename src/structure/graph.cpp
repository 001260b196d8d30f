#include "structure/graph.h"

#include <algorithm>
#include <functional>

#include "support/dominators.h"
#include "support/table.h"

namespace depyf {

Graph::Graph(Table<Node, NodeIndex>& nodes_in, NodeIndex entry_in) : nodes(nodes_in), entry(entry_in) { analyse(); }

namespace {

// Returns the successors of `node`, in the order of their code.
Successors successors_of(const Table<Node, NodeIndex>& nodes, const Node& node) {
  using End = Node::End;
  const NodeIndex a = node.a, b = node.b;
  if (node.end == End::none || node.end == End::leave) return {};
  // In 3.8, a node that ends in END_FINALLY has an edge to the code behind its try statement, although it always
  // raises.
  if (node.end == End::stop) return a >= 0 ? Successors{{a}, 1} : Successors{};
  if (node.end == End::go || b < 0) return {{a}, 1};
  // The branch with the lower offset stands first in the code.
  const bool is_turned = node.end == End::branch && a >= 0 && nodes[b].offset < nodes[a].offset;
  return {{is_turned ? b : a, is_turned ? a : b}, 2};
}

}  // namespace

// Determines the reverse postorder by a depth-first search with an explicit stack, which also finds the successors of
// each node and counts the edges to it.
void Graph::find_order() {
  struct Frame {
    NodeIndex node;
    int left;  // the number of successors that have not been visited
  };
  const int count = int(nodes.size());
  Table<Frame> stack(count);  // a node is visited once
  sequence_.resize(count);
  const Row<Successors, NodeIndex> successors(successors_);
  const Row<NodeIndex> sequence(sequence_);
  const Row<int, NodeIndex> order = order_, edges = first_pred_;
  int depth = 0, first = count;
  auto enter = [&](NodeIndex node) {
    order[node] = 0;
    const Node& info = nodes[node];
    has_setups_ |= info.end == Node::End::setup;
    const Successors& next = successors[node] = successors_of(nodes, info);
    for (NodeIndex to : next) ++edges[to];
    stack[depth++] = {node, next.count};
  };
  enter(entry);
  while (depth > 0) {
    auto& [node, left] = stack[depth - 1];
    if (left == 0) {
      sequence[--first] = node;
      --depth;
      continue;
    }
    // The last successor is visited first, so that the first successor comes first in reverse postorder.
    const NodeIndex to = successors[node].nodes[--left];
    if (to >= 0 && order[to] < 0) enter(to);
  }
  sequence_.erase(sequence_.begin(), sequence_.begin() + first);
  for (int index = 0; NodeIndex node : sequence_) order[node] = index++;
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
  int count = 0;
  for (NodeIndex node : sequence_)
    if (is_merge(node)) ++first_merge_[idom_[node]], ++count;
  merges_.resize(count);
  if (count == 0) return;
  int sum = 0;
  for (int& first : first_merge_) sum += first, first = sum;
  for (std::size_t index = sequence_.size(); index--;)
    if (const NodeIndex node = sequence_[index]; is_merge(node)) merges_[--first_merge_[idom_[node]]] = node;
}

// The rows are parts of two vectors, because an allocation for each row would take longer than filling it.
void Graph::analyse() {
  irreducible_ = has_setups_ = false;
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
  // `dominates` needs these numbers, and is called only for graphs with loops or setup nodes.
  if (has_loops() || has_setups_) number_dominators();
  find_merges();
  if (!has_loops()) return;
  find_loops();
  find_members();
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

// Groups the nodes by loop. The loops are numbered in the order of their headers.
void Graph::find_members() {
  std::ranges::sort(headers_);
  loop_numbers_ = next_;  // reuses the memory of `next_`, whose content is not needed any more
  for (int number = 0; NodeIndex header : headers_) loop_numbers_[header] = number++;
  Table<int> parents;
  parents.reserve(headers_.size());
  for (NodeIndex header : headers_) parents.push_back(outer_[header] < 0 ? -1 : loop_numbers_[outer_[header]]);
  loops_ = Loops(parents, sequence_, [&](NodeIndex node) { return loop_[node] < 0 ? -1 : loop_numbers_[loop_[node]]; });
}

bool Graph::in_loop(NodeIndex node, NodeIndex header) const {
  if (header < 0) return true;
  NodeIndex loop = loop_[node];
  while (loop >= 0 && loop != header) loop = outer_[loop];
  return loop == header;
}

}  // namespace depyf
