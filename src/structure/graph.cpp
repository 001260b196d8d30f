#include "structure/graph.h"

#include <algorithm>

namespace depyf {

Graph::Graph(std::vector<Node>& nodes_in, int entry_in) : nodes(nodes_in), entry(entry_in) { analyse(); }

std::vector<int> Graph::successors(int node) const {
  const Node& info = nodes[node];
  switch (info.end) {
    case Node::End::go: return {info.a};
    case Node::End::branch:
      if (info.b < 0) return {info.a};
      // What stands first in the code comes first.
      if (info.b >= 0 && info.a >= 0 && nodes[info.b].offset < nodes[info.a].offset) return {info.b, info.a};
      return {info.a, info.b};
    case Node::End::loop:
    case Node::End::setup:
      if (info.b >= 0) return {info.a, info.b};
      return {info.a};
    default: return {};
  }
}

void Graph::analyse() {
  int count = int(nodes.size());
  preds_.assign(count, {});
  forward_preds_.assign(count, 0);
  order_.assign(count, -1);
  idom_.assign(count, -1);
  loop_.assign(count, -1);
  outer_.assign(count, -1);
  sequence_.clear();
  std::vector<char> seen(count);
  struct Frame {
    int node;
    std::vector<int> next;
  };
  std::vector<Frame> stack{{entry, successors(entry)}};
  seen[entry] = 1;
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.next.empty()) {
      sequence_.push_back(frame.node);
      stack.pop_back();
      continue;
    }
    int to = frame.next.back();  // the last first, so that the first comes first when reversed
    frame.next.pop_back();
    if (to >= 0 && !seen[to]) {
      seen[to] = 1;
      stack.push_back({to, successors(to)});
    }
  }
  std::reverse(sequence_.begin(), sequence_.end());
  for (int index = 0; index < int(sequence_.size()); ++index) order_[sequence_[index]] = index;
  for (int node : sequence_)
    for (int to : successors(node)) {
      preds_[to].push_back(node);
      forward_preds_[to] += order_[node] < order_[to];
    }
  idom_[entry] = entry;
  for (bool changed = true; changed;) {
    changed = false;
    for (int node : sequence_) {
      if (node == entry) continue;
      int best = -1;
      for (int pred : preds_[node]) {
        if (idom_[pred] < 0) continue;
        if (best < 0) {
          best = pred;
          continue;
        }
        int other = pred;
        while (best != other) {
          while (order_[best] > order_[other]) best = idom_[best];
          while (order_[other] > order_[best]) other = idom_[other];
        }
      }
      if (best != idom_[node]) idom_[node] = best, changed = true;
    }
  }
  irreducible_ = false;
  // Inner loops come later in the order: from the last header to the first, each claims what no inner loop has.
  for (int index = int(sequence_.size()) - 1; index >= 0; --index) {
    int header = sequence_[index];
    std::vector<int> todo;
    for (int pred : preds_[header])
      if (order_[pred] >= index) {
        if (!dominates(header, pred)) {
          irreducible_ = true;
          return;
        }
        todo.push_back(pred);
      }
    if (todo.empty()) continue;
    loop_[header] = header;
    while (!todo.empty()) {
      int node = todo.back();
      todo.pop_back();
      // Climb to the outermost loop found so far.
      int top = node;
      if (loop_[top] >= 0) {
        top = loop_[top];
        while (outer_[top] >= 0) top = outer_[top];
        if (top == header) continue;
        outer_[top] = header;
      } else {
        loop_[top] = header;
      }
      for (int pred : preds_[top]) {
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

bool Graph::in_loop(int node, int header) const {
  if (header < 0) return true;
  int loop = loop_[node];
  while (loop >= 0 && loop != header) loop = outer_[loop];
  return loop == header;
}

bool Graph::dominates(int a, int b) const {
  while (order_[b] > order_[a]) b = idom_[b];
  return a == b;
}

}  // namespace depyf
