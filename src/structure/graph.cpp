#include "structure/graph.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <span>

#include "support/branch_free.h"
#include "support/dominators.h"
#include "support/table.h"

namespace depyf {

Graph::Graph(Table<Node, NodeIndex>& nodes_in, NodeIndex entry_in) : nodes(nodes_in), entry(entry_in) { analyse(); }

namespace {

// True if `end` is one of `Ends`.
template <Node::End... Ends>
bool is_any(Node::End end) {
  constexpr unsigned set = ((1u << unsigned(Ends)) | ...);
  return (set >> unsigned(end) & 1) != 0;
}

// Returns the successors of `node`, in the order of their code. A missing successor is represented by the number
// `nodes.size()`, which belongs to no node. The function contains no branch, because the processor could not predict a
// branch on the end of a node (Node::End).
Successors successors_of(const Table<Node, NodeIndex>& nodes, const Node& node) {
  using End = Node::End;
  const int missing = int(nodes.size());
  // In 3.8, a node that ends in END_FINALLY (End::stop) has an edge to the code behind its try statement, although the
  // END_FINALLY always raises.
  const bool has_a = is_any<End::go, End::branch, End::loop, End::stop, End::setup>(node.end) & (node.a >= 0);
  const bool has_b = is_any<End::branch, End::loop, End::setup>(node.end) & (node.b >= 0) & has_a;
  const int a = select(has_a, node.a, missing), b = select(has_b, node.b, missing);
  // The branch with the lower offset comes first in the code.
  const bool is_turned =
      has_b & (node.end == End::branch) & (nodes[or_zero(node.b)].offset < nodes[or_zero(node.a)].offset);
  return {{select(is_turned, b, a), select(is_turned, a, b)}, has_a + has_b};
}

}  // namespace

// Determines the reverse postorder by a depth-first search with an explicit stack. The search also finds the successors
// of each node, and counts the edges to each node. The number `count`, which represents a missing successor, counts as
// visited.
void Graph::find_order() {
  const int count = int(nodes.size());
  // The table `sequence_` also holds the stack, which grows from the start of the table, while the sequence is filled
  // from its end. The table has room for the stack and the sequence, because a visited node is in only one of them.
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
    ++edges[next.nodes[0]], ++edges[next.nodes[1]];
    sequence[depth++] = node;
  };
  enter(entry);
  while (depth > 0) {
    const NodeIndex node = sequence[depth - 1];
    // The last successor is visited first, so that the first successor comes first in reverse postorder.
    const auto& next = successors[node].nodes;
    const NodeIndex to = select(order[next[1]] < 0, next[1], next[0]);
    if (order[to] < 0) {
      enter(to);
    } else {
      --depth;
      sequence[--first] = node;
    }
  }
  for (int index = first; index < count; ++index) {
    const NodeIndex node = sequence[index];
    sequence[index - first] = node, order[node] = index - first;
  }
  sequence_.resize(count - first);
}

// Sorts the edges by their target, with a counting sort. The missing successors are sorted too, because a branch on
// whether a successor is missing would often be mispredicted.
void Graph::find_preds() {
  int sum = 0;
  // `first_pred_[n]` starts as the end of the list of predecessors of node n, and moves to the start of the list while
  // the list is filled backwards.
  for (int& first : first_pred_) sum += first, first = sum;
  preds_.resize(sum);
  for (std::size_t index = sequence_.size(); index--;) {
    const NodeIndex node = sequence_[index];
    const Successors& next = successors(node);
    for (const NodeIndex to : {next.nodes[1], next.nodes[0]}) {
      preds_[--first_pred_[to]] = node;
      if (order_[node] < order_[to]) ++forward_preds_[to];
      else headers_.push_back(to);
    }
  }
}

// Numbers the dominator tree. In reverse postorder, a dominator comes before the nodes that it dominates. The sizes of
// the subtrees are summed up from the last node to the first. After the sizes of the subtrees are known, the nodes are
// numbered from the first node to the last.
void Graph::number_dominators() {
  // The loop leaves out the first node of the sequence: it is the entry, which no other node dominates.
  for (std::size_t index = sequence_.size(); --index > 0;) {
    const NodeIndex node = sequence_[index];
    leave_[idom_[node]] += ++leave_[node];
  }
  ++leave_[entry];
  next_[entry] = 1;
  for (const NodeIndex node : std::span(sequence_).subspan(1)) {
    const NodeIndex above = idom_[node];
    enter_[node] = next_[above], next_[above] += leave_[node];
    next_[node] = enter_[node] + 1;
    leave_[node] += enter_[node];
  }
}

// Sorts the nodes where several paths meet by their immediate dominators, with a counting sort.
void Graph::find_merges() {
  int count = 0;
  for (NodeIndex node : sequence_) first_merge_[idom_[node]] += is_merge(node), count += is_merge(node);
  merges_.resize(count);
  if (count == 0) return;
  int sum = 0;
  for (int& first : first_merge_) sum += first, first = sum;
  for (std::size_t index = sequence_.size(); index--;)
    if (const NodeIndex node = sequence_[index]; is_merge(node)) merges_[--first_merge_[idom_[node]]] = node;
}

// The members of type Row are parts of the two tables `numbers_` and `node_numbers_`, because an allocation for each
// row would take longer than filling the row.
void Graph::analyse() {
  irreducible_ = has_setups_ = false;
  headers_.clear();
  const std::size_t count = nodes.size();
  successors_.assign(count, Successors());
  numbers_.assign(7 * count + 4, 0);
  node_numbers_.assign(3 * count, NodeIndex());
  std::size_t used = 0;
  auto take = [&](std::size_t size) {
    const Row<int, NodeIndex> part = Row<int, NodeIndex>(numbers_).part(used, size);
    used += size;
    return part;
  };
  // The number `count` represents a missing successor. The order of a missing successor is greater than the order of
  // any node, so that a missing successor counts as visited.
  first_pred_ = take(count + 1), first_merge_ = take(count + 1);
  enter_ = take(count), next_ = take(count), leave_ = take(count);
  forward_preds_ = take(count + 1), order_ = take(count + 1);
  std::fill(order_.begin(), order_.end(), -1);
  order_[count] = std::numeric_limits<int>::max();
  const Row<NodeIndex, NodeIndex> rows(node_numbers_);
  idom_ = rows.part(std::size_t{0}, count), loop_ = rows.part(count, count), outer_ = rows.part(2 * count, count);
  find_order();
  find_preds();
  immediate_dominators<NodeIndex>(sequence_, order_, [&](NodeIndex node) { return preds(node); }, idom_);
  // The function `dominates` needs the numbers of the dominator tree, and is called only for graphs with loops or
  // setup nodes.
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
  const auto number_of = [&](NodeIndex header) { return header < 0 ? -1 : loop_numbers_[header]; };
  loops_ = Loops(
      headers_.size(), [&](int number) { return number_of(outer_[headers_[number]]); }, sequence_,
      [&](NodeIndex node) { return number_of(loop_[node]); });
}

bool Graph::in_loop(NodeIndex node, NodeIndex header) const {
  if (header < 0) return true;
  NodeIndex loop = loop_[node];
  while (loop >= 0 && loop != header) loop = outer_[loop];
  return loop == header;
}

}  // namespace depyf
