// Computes immediate dominators by the iteration of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm").
#pragma once

#include <algorithm>
#include <utility>

#include "support/table.h"

namespace depyf {

// `sequence` holds the nodes in reverse postorder, the entry first. `order` maps each node to its index in `sequence`,
// and `preds(node)` returns its predecessors. The caller sets `idom` to -1 for each node. The function sets `idom` of
// each node in `sequence` to the node's immediate dominator, and `idom` of the entry to the entry itself.
template <class Node, class Preds>
void immediate_dominators(const Table<Node>& sequence, Row<const int, Node> order, Preds preds, Row<Node, Node> idom) {
  if (sequence.empty()) return;
  const Node entry = sequence[0];
  idom[entry] = entry;
  Table<int> climbing;
  // The edges whose source the first round visits later than their target, so that each edge closes a loop.
  Table<std::pair<Node, Node>> back_edges;
  // Finds the common dominator of many predecessors of `node`. Each step replaces the last node in reverse postorder by
  // its immediate dominator, so that a dominator that several paths share is visited only once.
  auto common = [&](Node node, const auto& ways) {
    climbing.clear();
    for (const Node pred : ways)
      if (idom[pred] >= 0) climbing.push_back(order[pred]);
      else back_edges.push_back({pred, node});
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
  // Finds the common dominator of a few predecessors of `node`.
  auto meeting = [&](Node node, const auto& ways) {
    Node best;
    for (const Node pred : ways) {
      if (idom[pred] < 0) {
        back_edges.push_back({pred, node});
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
  // Computes the immediate dominator of each node once. Returns true if a result changed.
  auto round = [&] {
    bool is_changed = false;
    for (const Node node : sequence) {
      if (node == entry) continue;
      const auto& ways = preds(node);
      const std::size_t count = std::size(ways);
      // If a node has only one predecessor, the predecessor precedes the node in `order`, because the depth-first
      // search reached the node from this predecessor.
      const Node best = count == 1 ? *std::begin(ways) : count > 4 ? common(node, ways) : meeting(node, ways);
      is_changed |= best != idom[node];
      idom[node] = best;
    }
    return is_changed;
  };
  round();
  // A back edge whose target dominates its source changes no dominators; only loops with two entries need more rounds.
  auto is_dominated = [&](std::pair<Node, Node> edge) {
    auto [node, header] = edge;
    while (order[node] > order[header]) node = idom[node];
    return node == header;
  };
  if (!std::ranges::all_of(back_edges, is_dominated))
    while (round()) {}
}

}  // namespace depyf
