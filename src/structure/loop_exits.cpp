// Collects the paths out of a loop.
#include "structure/loop_exits.h"

#include <algorithm>
#include <ranges>

namespace depyf {
using namespace ast;

namespace {

// Returns the number of iterators on the stack at the start of the node.
int iterators_at(const Outline& outline, NodeIndex node) {
  // The body of a try statement starts with the same stack as the statement.
  while (outline.nodes[node].end == Node::End::setup && outline.nodes[node].a >= 0) node = outline.nodes[node].a;
  return outline.nodes[node].iterators;
}

}  // namespace

bool is_behind(const Outline& outline, NodeIndex header, NodeIndex node) {
  return iterators_at(outline, node) <= iterators_at(outline, header);
}

LoopExits loop_exits(const Outline& outline, NodeIndex header, NodeIndex exhausted, const Place& place) {
  LoopExits paths;
  auto& [exits, lexical, go_round, last] = paths;
  last = outline.loop_end(header);
  Table<NodeIndex> todo;
  for (NodeIndex node : outline.members(header)) {
    last = std::max(last, outline.nodes[node].offset);
    todo.push_back(node);
  }
  RegionIndex region = outline.nodes[header].region;
  // In 3.8, code behind the handlers of a statement in the loop lies in the loop too, because the jump back to the
  // header comes last.
  if (!outline.dead_ends().empty())
    for (NodeIndex node : outline.members(header)) {
      if (outline.nodes[node].end != Node::End::setup || outline.nodes[node].b < 0) continue;
      const NodeIndex dead = outline.dead_end_of(outline.nodes[outline.nodes[node].b].region),
                      to = dead < 0 ? NodeIndex() : outline.nodes[dead].a;
      if (to < 0) continue;
      if (outline.in_loop(to, header)) go_round.push_back(node);
      else if (outline.nodes[to].behind_handlers && outline.cfg().inside(outline.nodes[to].region, region) &&
               lexical.insert(to).second)
        todo.push_back(to);
    }
  // Nodes in regions that start within the loop are part of the loop, wherever control goes from these nodes.
  while (!todo.empty()) {
    NodeIndex node = todo.back();
    todo.pop_back();
    for (NodeIndex next : outline.successors(node)) {
      if (outline.in_loop(next, header) || next == exhausted || lexical.contains(next)) continue;
      RegionIndex own = outline.nodes[next].region;
      const bool behind = outline.nodes[next].else_break && own == region;
      if (place.leads_to(next)) exits.insert(next);
      else if (behind || (own != region && outline.cfg().inside(own, region))) {
        if (lexical.insert(next).second) todo.push_back(next);
      } else if (outline.cfg().inside(own, place.region)) {
        exits.insert(next);
      }
    }
  }
  return paths;
}

bool leaves_at_once(const Outline& outline, NodeIndex node) {
  const Node& info = outline.nodes[node];
  if (outline.forward_preds(node) > 1) return false;
  if (info.end == Node::End::leave)
    return outline.may_return() &&
           std::ranges::all_of(info.statements, [](const Stmt* stmt) { return is<InternalStmt>(stmt); });
  return info.end == Node::End::stop && info.statements.size() == 1;
}

}  // namespace depyf
