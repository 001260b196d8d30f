// Computes immediate dominators by the iteration of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm").
#pragma once

#include <algorithm>

#include "support/table.h"

namespace depyf {

// `sequence` holds the nodes in reverse postorder, the entry first. `order` gives the index of each node in `sequence`,
// and `preds(node)` its predecessors. `idom` must be -1 for each node; it is set for the nodes in `sequence`. The entry
// gets itself.
template <class Node, class Preds>
void immediate_dominators(const Table<Node>& sequence, Row<const int, Node> order, Preds preds, Row<Node, Node> idom) {
  if (sequence.empty()) return;
  const Node entry = sequence[0];
  idom[entry] = entry;
  Table<int> climbing;
  // True if another round is needed, because a round changed what an earlier one had found, or because it met a
  // predecessor that it had not come to yet. The latter closes a loop: without loops one round is enough.
  bool is_open = true;
  // Finds the common dominator of many predecessors. The deepest node moves up first, so that shared parts of their
  // paths are climbed only once.
  auto common = [&](const auto& ways) {
    climbing.clear();
    for (const Node pred : ways)
      if (idom[pred] >= 0) climbing.push_back(order[pred]);
      else is_open = true;
    std::make_heap(climbing.begin(), climbing.end());
    while (!climbing.empty()) {
      const int deepest = climbing.front();
      while (!climbing.empty() && climbing.front() == deepest) {
        std::pop_heap(climbing.begin(), climbing.end());
        climbing.pop_back();
      }
      if (climbing.empty()) return sequence[deepest];
      climbing.push_back(order[idom[sequence[deepest]]]);
      std::push_heap(climbing.begin(), climbing.end());
    }
    return Node();
  };
  // Finds the common dominator of a few predecessors.
  auto meeting = [&](const auto& ways) {
    Node best;
    for (const Node pred : ways) {
      if (idom[pred] < 0) {
        is_open = true;
        continue;
      }
      if (best < 0) best = pred;
      for (Node other = pred; best != other;) {
        while (order[best] > order[other]) best = idom[best];
        while (order[other] > order[best]) other = idom[other];
      }
    }
    return best;
  };
  while (is_open) {
    is_open = false;
    for (const Node node : sequence) {
      if (node == entry) continue;
      const auto& ways = preds(node);
      const Node best = std::size(ways) > 4 ? common(ways) : meeting(ways);
      if (best == idom[node]) continue;
      if (idom[node] >= 0) is_open = true;
      idom[node] = best;
    }
  }
}

}  // namespace depyf
