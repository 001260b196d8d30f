// Computes immediate dominators by the iteration of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm").
#pragma once

#include <algorithm>

#include "support/table.h"

namespace depyf {

// `sequence` holds the nodes in reverse postorder, the entry first. `order` gives the index of each node in `sequence`,
// and `preds(node)` its predecessors. `idom` must be -1 for each node; it is set for the nodes in `sequence`. The entry
// gets itself.
template <class Preds>
void immediate_dominators(Row<const int> sequence, Row<const int> order, Preds preds, Row<int> idom) {
  if (sequence.empty()) return;
  const int entry = sequence[0];
  idom[entry] = entry;
  Table<int> climbing;
  // Finds the common dominator of many predecessors. The deepest node moves up first, so that shared parts of their
  // paths are climbed only once.
  auto common = [&](const auto& ways) {
    climbing.clear();
    for (int pred : ways)
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
    return -1;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (int node : sequence) {
      if (node == entry) continue;
      int best = -1;
      const auto& ways = preds(node);
      if (std::size(ways) > 4) {
        best = common(ways);
        if (best != idom[node]) idom[node] = best, changed = true;
        continue;
      }
      for (int pred : ways) {
        if (idom[pred] < 0) continue;
        if (best < 0) {
          best = pred;
          continue;
        }
        int other = pred;
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
