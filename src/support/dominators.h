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
  // Finds the common dominator of many predecessors. The deepest node moves up first, so that shared parts of their
  // paths are climbed only once.
  auto common = [&](const auto& ways) {
    climbing.clear();
    for (const Node pred : ways)
      if (idom[pred] >= 0) climbing.push_back(order[pred]);
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
  for (bool changed = true; changed;) {
    changed = false;
    for (const Node node : sequence) {
      if (node == entry) continue;
      Node best;
      const auto& ways = preds(node);
      if (std::size(ways) > 4) {
        best = common(ways);
        if (best != idom[node]) idom[node] = best, changed = true;
        continue;
      }
      for (const Node pred : ways) {
        if (idom[pred] < 0) continue;
        if (best < 0) {
          best = pred;
          continue;
        }
        Node other = pred;
        while (best != other) {
          while (order[best] > order[other]) best = idom[best];
          while (order[other] > order[best]) other = idom[other];
        }
      }
      if (best != idom[node]) idom[node] = best, changed = true;
    }
  }
}

}  // namespace depyf
