// Finds the end of a loop that only `break` ends, such as `while True`. Nothing in the bytecode states where `break`
// leads, so the paths out of the loop are compared: some of them belong to statements in the loop, which return or raise.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "structure/loop_ends.h"
#include "structure/loop_exits.h"
#include "support/search_limits.h"

namespace depyf {
using namespace ast;

namespace {

// True if an edge leads to `exit` from within a with statement in the loop, and `exit` is outside of the with
// statement.
bool follows_with(const Outline& outline, NodeIndex header, NodeIndex exit) {
  const Cfg& cfg = outline.cfg();
  for (NodeIndex pred : outline.preds(exit)) {
    if (!outline.in_loop(pred, header)) continue;
    for (RegionIndex at = outline.nodes[pred].region; at >= 0 && at != outline.nodes[header].region;
         at = cfg.regions[at].parent)
      if (cfg.regions[at].kind == Region::Kind::with && !cfg.inside(outline.nodes[exit].region, at)) return true;
  }
  return false;
}

// Returns the node outside of the loop to which a `break` in a try statement leads; -1 if no edge is recognised as the
// edge of a `break` in a try statement. An edge from a try statement out of the loop is a `break` if the statement also
// ends in the loop, since a statement can end in one place only. For example, in the body `try: if a: break; except E:
// pass; b()` of a `while True:` loop, the try statement ends at `b()`, so the edge out of the loop is a `break`.
NodeIndex break_of_statement(const Outline& outline, NodeIndex header, const LoopExits& paths) {
  const Cfg& cfg = outline.cfg();
  std::set<RegionIndex> ending;  // the regions of the try and with statements that end inside the loop
  std::set<std::pair<RegionIndex, NodeIndex>> leaving;
  for (NodeIndex node : outline.members(header))
    for (NodeIndex next : outline.successors(node))
      for (RegionIndex region = outline.nodes[node].region;
           region >= 0 && region != outline.nodes[header].region && !cfg.inside(outline.nodes[next].region, region);
           region = cfg.regions[region].parent) {
        if (paths.exits.contains(next)) leaving.insert({region, next});
        else if (next != header && outline.in_loop(next, header)) ending.insert(region);
      }
  NodeIndex best = -1;
  for (auto [region, exit] : leaving)
    if (ending.contains(region) && !outline.trivial_tail(exit) && !leaves_at_once(outline, exit) &&
        (best < 0 || outline.nodes[exit].offset > outline.nodes[best].offset))
      best = exit;
  return best;
}

// Returns the first node on the path from `exit` that may start the code behind the loop: it has no iterator of an inner
// loop on the stack, and lies behind the last jump back in bytecode order. Returns -1 if there is no such node.
NodeIndex first_behind_endless(const Outline& outline, NodeIndex header, NodeIndex exit, const LoopExits& paths) {
  const auto is_within = [&](NodeIndex node) {
    return outline.nodes[node].offset < paths.last || !is_behind(outline, header, node);
  };
  for (int steps = 0; exit >= 0 && is_within(exit); ++steps) {
    if (outline.nodes[exit].end != Node::End::go || steps == search_limits::nodes_behind_break) return -1;
    exit = outline.nodes[exit].a;
  }
  return exit;
}

}  // namespace

NodeIndex after_endless(const Outline& outline, const Claims& claims, NodeIndex header, const Place& place,
                        const LoopExits& paths) {
  const auto& [exits, lexical, go_round, last] = paths;
  for (NodeIndex exit : exits) {
    // In 3.8, a `break` or `continue` that leaves statements is a node of its own.
    if (exit == place.next || (outline.nodes[exit].left_by_statement && outline.nodes[exit].a == place.next))
      return place.next;
  }
  // The first choice for the code behind the loop is a node outside of the loop where several paths meet, and which a
  // node of the loop dominates. If a path out of the loop goes round this node to a later one, the node lies in front of a
  // `break`.
  std::map<int, NodeIndex> meetings;  // by position in reverse postorder
  auto consider = [&](NodeIndex dominator) {
    for (NodeIndex node : outline.merges_of(dominator)) {
      if (outline.in_loop(node, header) || lexical.contains(node)) continue;
      if (outline.trivial_tail(node) || !outline.cfg().inside(outline.nodes[node].region, place.region)) continue;
      if (place.loop >= 0 && !outline.in_loop(node, place.loop) && claims[node].claimed) continue;
      meetings.emplace(outline.order(node), node);
    }
  };
  for (NodeIndex node : outline.members(header)) consider(node);
  for (NodeIndex node : lexical) consider(node);
  NodeIndex best = -1;
  for (const auto& [order, node] : meetings) {
    const auto has_way = [&](NodeIndex exit) { return goes_round(outline, best, node, place, exit); };
    if (best < 0 || std::ranges::any_of(exits, has_way)) best = node;
  }
  if (best >= 0) return best;
  // In 3.8, if the loop has code behind the handlers of a try statement, the code behind the loop is a node outside of
  // the loop where paths from this try statement meet.
  for (NodeIndex node : go_round)
    for (NodeIndex other : outline.merges_of(node))
      if (!outline.in_loop(other, header) && !lexical.contains(other) && !claims[other].claimed &&
          outline.cfg().inside(outline.nodes[other].region, place.region))
        return other;
  // An edge out of the loop may lead directly to the target of a `continue` or `break` of an outer loop.
  for (NodeIndex exit : exits)
    if (place.jumps_to(exit)) return exit;
  // In 3.8, a `break` that is the whole else clause of a try statement leads behind the loop, even to code that only
  // returns.
  for (NodeIndex node : lexical)
    if (outline.nodes[node].else_break && exits.contains(outline.nodes[node].a)) return outline.nodes[node].a;
  // If no other rule applies, the code behind the loop is the last exit in code order that does more than return or
  // raise.
  for (NodeIndex exit : exits) {
    const NodeIndex behind = first_behind_endless(outline, header, exit, paths);
    if (behind < 0 || outline.trivial_tail(behind) || (behind == exit && leaves_at_once(outline, exit))) continue;
    if (best < 0 || outline.nodes[behind].offset > outline.nodes[best].offset) best = behind;
  }
  // If an exit other than `best` reaches `place.next` without passing through `best`, both this exit and `best` are
  // code in front of a `break` that leads to `place.next`.
  if (best >= 0 && exits.size() > 1)
    for (NodeIndex exit : exits)
      if (exit != best && reaches(outline, exit, place.next, place) && !reaches(outline, exit, best, place))
        return place.next;
  // If a statement in the loop leaves the loop on every path through its body, the code behind the loop is the last
  // node in code order to which an edge leads from the statement out of the loop.
  if (best < 0)
    for (NodeIndex node : lexical)
      for (NodeIndex next : outline.successors(node))
        if (exits.contains(next) && !outline.trivial_tail(next) &&
            (best < 0 || outline.nodes[next].offset > outline.nodes[best].offset))
          best = next;
  if (best < 0) best = break_of_statement(outline, header, paths);
  // The target of an edge out of a with statement in the loop runs after the `__exit__` of the manager, so the target
  // is not part of the loop's body.
  if (best < 0)
    for (NodeIndex exit : exits)
      if (!outline.trivial_tail(exit) && follows_with(outline, header, exit) &&
          (best < 0 || outline.nodes[exit].offset > outline.nodes[best].offset))
        best = exit;
  // No statement in the loop continues or breaks the loop around it. So if a path out of the loop does, it leaves the loop
  // by a `break`, behind which only the `continue` or `break` of the outer loop follows.
  for (NodeIndex target : {place.cont, place.brk})
    for (NodeIndex exit : exits)
      if (best < 0 && reaches(outline, exit, target, place)) best = target;
  return best;
}

}  // namespace depyf
