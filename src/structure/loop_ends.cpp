// Finds where a loop ends in the source, which is the node that `break` leads to. Bytecode does not record the end of a
// loop, so the end is inferred from the paths out of the loop: from the node where they meet, from the code on them,
// and from whether the iterator is still on the stack. For example, if the path through `if a: break` in a for loop
// meets the end of the else clause behind the loop, the path is recognised as a `break`. If the for loop also contains
// `if b: return 1`, the path through this `return` does not meet the end of the else clause, so the code of this path
// is placed inside the loop. The else clause is the code that runs when the iterator is exhausted.
#include <algorithm>
#include <map>
#include <set>

#include "structure/loop_ends.h"
#include "structure/loop_exits.h"
#include "support/search_limits.h"
#include "support/table.h"

namespace depyf {
using namespace ast;

namespace {

bool leaves_for_good(const Outline& outline, NodeIndex node, const Place& place);

// True if `node` lies outside of the loop around `place`, and is not `place.next`. If the else clause of an inner loop
// is a `break` or `return`, the clause leads to a node outside of the loop around `place`, and the code behind the
// inner loop may lead to the same node.
bool leaves_outer_loop(const Outline& outline, NodeIndex node, const Place& place) {
  return place.loop >= 0 && node != place.next && !outline.in_loop(node, place.loop);
}

// Returns the first node on the path out of the loop through `exit` that may start the code behind the loop; -1 if no
// node or several nodes may. A node may start this code if control gets from `place` to the node without a statement,
// by `continue` or by `break`, or if the loop's iterator is off the stack and the node has popped the iterator or lies
// behind the start of the else clause in bytecode order. The path through `exit` may have branches, because a `break`
// may stand in an `if` whose other branch raises or returns, and loops, because a `break` may stand behind a loop.
NodeIndex first_behind(const Outline& outline, NodeIndex header, NodeIndex exit, NodeIndex exhausted,
                       const Place& place) {
  NodeIndex found = -1;
  Table<NodeIndex> todo{exit};
  bool is_branched = false;
  for (int steps = 0; !todo.empty() && steps < search_limits::nodes_to_meeting; ++steps) {
    const NodeIndex node = todo.back();
    todo.pop_back();
    // A return pops the iterator too, so it is not taken for the code behind a `break`.
    if (node < 0 || (is_branched && outline.trivial_tail(node))) continue;
    const Node& info = outline.nodes[node];
    // A node that computes a value for the next node while the iterator is on the stack is part of a `return`.
    if (info.carries && !is_behind(outline, header, node)) continue;
    const bool is_after = info.offset > outline.nodes[exhausted].offset || info.pops_iterator;
    // A while loop contains all code in front of its else clause, but a for loop contains only the code with the
    // iterator on the stack.
    const bool is_within = outline.nodes[header].end != Node::End::loop || !is_behind(outline, header, node);
    if ((is_after && is_behind(outline, header, node)) || place.leads_to(node)) {
      if (found >= 0 && found != node) return -1;
      found = node;
    } else if (info.end == Node::End::go || (info.end == Node::End::setup && is_within)) {
      todo.push_back(info.a);
    } else if ((info.end == Node::End::branch || info.end == Node::End::loop) && is_within) {
      is_branched = true;
      for (NodeIndex next : outline.successors(node))
        if (outline.order(next) > outline.order(node)) todo.push_back(next);
    }
  }
  return found;
}

// Returns the node where two paths meet: the path through the else clause, which starts at `exhausted`, and the path
// out of the loop through `exit`. Returns -1 if the paths from `exhausted` and `exit` do not meet.
NodeIndex else_meet(const Outline& outline, NodeIndex header, NodeIndex exit, NodeIndex exhausted, const Place& place) {
  // The paths from `exit` and `exhausted` are followed forward in reverse postorder, to the first node on both paths.
  // Bit 0 of `sides` stands for the path from `exit`, and bit 1 for the path from `exhausted`.
  std::map<int, int> ahead;  // by position in reverse postorder: the `sides` of the paths that reach the node
  int open[2] = {0, 0};  // by path: the number of nodes in `ahead` that the path reaches
  auto visit = [&](NodeIndex node, int sides) {
    int& known = ahead[outline.order(node)];
    for (int side : {0, 1}) open[side] += (sides & ~known) >> side & 1;
    known |= sides;
  };
  visit(exit, 1), visit(exhausted, 2);
  // The paths from `exit` and `exhausted` do not meet if `ahead` has no nodes left for one of them.
  while (open[0] > 0 && open[1] > 0) {
    auto [order, sides] = *ahead.begin();
    ahead.erase(ahead.begin());
    for (int side : {0, 1}) open[side] -= sides >> side & 1;
    NodeIndex node = outline.sequence()[order];
    // If the paths from `exit` and `exhausted` leave the outer loop by different `break` or `return` statements, the
    // node where the paths meet is not the code behind the inner loop.
    const bool leaves_outer = place.leads_to(node) || leaves_outer_loop(outline, node, place);
    if (sides == 3 && !outline.in_loop(node, header) && !leaves_outer && outline.forward_preds(node) > 1 &&
        is_behind(outline, header, node))
      return node;
    if (place.leads_to(node)) continue;
    for (NodeIndex next : outline.successors(node))
      if (outline.order(next) > order) visit(next, sides);
  }
  // The paths from `exit` and `exhausted` may meet at `place.next` or `place.cont`.
  for (NodeIndex node : {place.next, place.cont})
    if (node >= 0 && reaches(outline, exit, node, place) && reaches(outline, exhausted, node, place)) return node;
  // If control never reaches the end of the else clause, the paths from `exit` and `exhausted` do not meet. The code
  // behind the else clause in bytecode order then counts as the code behind the loop.
  NodeIndex meet = first_behind(outline, header, exit, exhausted, place);
  for (NodeIndex node : {place.next, place.cont})
    if (meet < 0 && reaches(outline, exit, node, place)) meet = node;
  return meet;
}

// Returns the first node that is not empty on the path that starts at `exit`, behind a `break` that has popped the
// iterator of a for loop. Returns -1 for a while loop, and if the path first reaches a node to which `place` leads
// (Place::leads_to).
NodeIndex behind_break(const Outline& outline, NodeIndex header, NodeIndex exit, const Place& place) {
  if (outline.nodes[header].end != Node::End::loop) return -1;
  for (int steps = 0; exit >= 0 && steps < search_limits::nodes_behind_break; ++steps, exit = outline.nodes[exit].a) {
    const Node& info = outline.nodes[exit];
    if (place.leads_to(exit) || !is_behind(outline, header, exit)) return -1;
    if (!info.statements.empty() || info.end != Node::End::go) return exit;
  }
  return -1;
}

// True if all edges from the loop at `header` to `exit` leave the body of a loop within it.
bool leaves_inner_loop(const Outline& outline, NodeIndex header, NodeIndex exit) {
  return std::ranges::all_of(outline.preds(exit), [&](NodeIndex pred) {
    return outline.in_loop(pred, header) && outline.loop_of(pred) != header && !outline.is_header(pred);
  });
}

// Returns the node behind a loop with an else clause, which starts at `exhausted`: the first node where the else clause
// and a path out of the loop meet.
NodeIndex after_else(const Outline& outline, NodeIndex header, NodeIndex exhausted, const Place& place,
                     const LoopExits& paths) {
  NodeIndex best = -1;
  // If the else clause is only `continue` or `break` of an outer loop, the code behind the loop starts where a path out
  // of the loop pops the iterator.
  auto popped = [&](NodeIndex exit) -> NodeIndex {
    if (!place.jumps_to(exhausted) || outline.nodes[header].end != Node::End::loop) return -1;
    const NodeIndex node =
        is_behind(outline, header, exit) ? exit : first_behind(outline, header, exit, exhausted, place);
    return node < 0 || place.leads_to(node) || outline.trivial_tail(node) ? NodeIndex() : node;
  };
  for (NodeIndex exit : paths.exits) {
    // A node that only returns may be a copy of a return in the body of the loop.
    if (outline.trivial_tail(exit) && exit != place.next) continue;
    // Code that raises or returns on a line above the else clause is part of the loop's body.
    if (outline.nodes[exit].line >= 0 && outline.nodes[exit].line < outline.nodes[exhausted].line &&
        leaves_at_once(outline, exit))
      continue;
    NodeIndex meet = popped(exit);
    // In a while loop whose failed test leads directly to a node to which `place` leads, each `break` leads to this
    // node. A node that has one predecessor and always returns or raises is part of the loop's body, because the node
    // cannot be the target of a `break`. If the predecessor lies in a loop in the body, a `break` would only leave that
    // loop.
    if (outline.nodes[header].end != Node::End::loop && outline.forward_preds(exit) == 1 &&
        (place.leads_to(exhausted) || leaves_inner_loop(outline, header, exit)) &&
        leaves_for_good(outline, exit, place))
      continue;
    if (meet < 0 && (leaves_outer_loop(outline, exhausted, place) || !reaches(outline, exit, exhausted, place)))
      meet = else_meet(outline, header, exit, exhausted, place);
    // If the else clause ends in `continue` of an outer loop, the code behind the loop starts where a `break` has
    // popped the iterator.
    if (meet >= 0 && meet == place.cont)
      if (const NodeIndex at = behind_break(outline, header, exit, place); at >= 0) meet = at;
    if (meet >= 0 && (best < 0 || outline.order(meet) < outline.order(best))) best = meet;
  }
  // No statement in the loop continues or breaks the loop or block around it. So if a path out of the loop does, and does
  // not pass through `best`, both the path and `best` are code in front of a `break`, behind which only the `continue` or
  // `break` of the outer loop follows.
  for (NodeIndex target : {place.cont, place.brk})
    for (NodeIndex exit : paths.exits)
      if (best >= 0 && best != target && exhausted != target && goes_round(outline, best, target, place, exit))
        best = target;
  return best >= 0 ? best : exhausted;
}

// True if no path from `node` leads to a node to which `place` leads, nor back to the header of a loop around `node`.
bool leaves_for_good(const Outline& outline, NodeIndex node, const Place& place) {
  Table<NodeIndex> todo{node};
  std::set<NodeIndex> seen{node};
  while (!todo.empty()) {
    node = todo.back();
    todo.pop_back();
    for (NodeIndex next : outline.successors(node)) {
      const bool goes_back = outline.order(next) <= outline.order(node) && !seen.contains(next);
      if (place.leads_to(next) || goes_back) return false;
      if (seen.insert(next).second) todo.push_back(next);
    }
  }
  return true;
}

}  // namespace

// Searches forward from `from` and backward from `to` in turn, because one of the two searches is usually short, while
// the other may visit the rest of a long function.
bool reaches(const Outline& outline, NodeIndex from, NodeIndex to, const Place& place) {
  if (from < 0 || to < 0) return false;
  if (from == to) return true;
  if (place.leads_to(from)) return false;
  Table<NodeIndex> forward{from}, backward{to};
  std::set<NodeIndex> seen, seen_back;
  while (!forward.empty() && !backward.empty()) {
    NodeIndex node = forward.back();
    forward.pop_back();
    for (NodeIndex next : outline.successors(node)) {
      if (next == to) return true;
      if (outline.order(next) <= outline.order(node) || place.leads_to(next)) continue;
      if (seen.insert(next).second) forward.push_back(next);
    }
    node = backward.back();
    backward.pop_back();
    for (NodeIndex pred : outline.preds(node)) {
      if (pred == from) return true;
      const bool ahead = outline.order(pred) < outline.order(node) || node == to;  // an edge to `to` may be a back edge
      if (!ahead || outline.order(pred) < outline.order(from) || place.leads_to(pred)) continue;
      if (seen_back.insert(pred).second) backward.push_back(pred);
    }
  }
  return false;
}

bool goes_round(const Outline& outline, NodeIndex node, NodeIndex later, const Place& place, NodeIndex exit) {
  return !reaches(outline, exit, node, place) && reaches(outline, exit, later, place) &&
         reaches(outline, node, later, place);
}

NodeIndex after_loop(const Outline& outline, const Claims& claims, NodeIndex header, NodeIndex exhausted,
                     const Place& place) {
  const LoopExits paths = loop_exits(outline, header, exhausted, place);
  return exhausted >= 0 ? after_else(outline, header, exhausted, place, paths)
                        : after_endless(outline, claims, header, place, paths);
}

NodeIndex after_single_pass(const Outline& outline, NodeIndex header, NodeIndex body, NodeIndex exhausted,
                            const Place& place) {
  if (exhausted < 0) return exhausted;
  if (!leaves_outer_loop(outline, exhausted, place) && reaches(outline, body, exhausted, place)) return exhausted;
  const NodeIndex meet = else_meet(outline, header, body, exhausted, place);
  return meet >= 0 ? meet : exhausted;
}

}  // namespace depyf
