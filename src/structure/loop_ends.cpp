// Where a loop ends: the node that `break` goes to. Nothing in bytecode says it; the ways out of the loop do, by where they
// meet, what lies between them and what still has the iterator on the stack.
//
//     for x in v:
//         if a: break           a way out that meets the end of the else clause: it is a break, and they meet behind the loop
//         if b: return 1        a way out that does not: it stands in the loop
//     else:
//         c()                   where the end of the iterator leads
#include <algorithm>
#include <map>
#include <set>

#include "structure/loop_ends.h"
#include "support/search_limits.h"

namespace depyf {
using namespace ast;

namespace {

// The ways out of a loop.
struct LoopExits {
  std::set<int> exits;  // where they lead
  std::set<int> lexical;  // what lies on them in statements that begin in the loop: handlers, and what leaves those
  std::vector<int> go_round;  // 3.8: statements in the loop, where what stands behind their handlers leads back
  std::uint32_t last = 0;  // offset of the loop's end: what lies before is no place to go on
};

bool leaves_for_good(const Outline& outline, int node, const Place& place);
bool leaves_at_once(const Outline& outline, int node);

// Where the else clause of a loop, which starts at `exhausted`, and a way out of it to `exit` meet; -1: nowhere.
int else_meet(const Outline& outline, int header, int exit, int exhausted, const Place& place) {
  // What still has the iterator on the stack has not come to its break yet, or leaves by return or raise.
  auto behind = [&](int node) {
    return outline.nodes[header].end != Node::End::loop ||
           outline.nodes[node].iterators <= outline.nodes[header].iterators;
  };
  // Both ways forward at once, in order: the first node that both come to. 1: from the exit, 2: from the else clause.
  std::map<int, int> ahead;  // by order
  int open[2] = {0, 0};  // entries of each side
  auto visit = [&](int node, int sides) {
    int& known = ahead[outline.order(node)];
    for (int side : {0, 1}) open[side] += (sides & ~known) >> side & 1;
    known |= sides;
  };
  visit(exit, 1), visit(exhausted, 2);
  while (open[0] > 0 && open[1] > 0) {  // one that has come to its end meets nobody
    auto [order, sides] = *ahead.begin();
    ahead.erase(ahead.begin());
    for (int side : {0, 1}) open[side] -= sides >> side & 1;
    int node = outline.sequence()[order];
    if (sides == 3 && !outline.in_loop(node, header) && node != place.next && node != place.cont &&
        outline.forward_preds(node) > 1 && behind(node))
      return node;
    if (place.leads_to(node)) continue;
    for (int next : outline.successors(node))
      if (outline.order(next) > order) visit(next, sides);
  }
  for (int node : {place.next, place.cont})
    if (node >= 0 && reaches(outline, exit, node, place) && reaches(outline, exhausted, node, place)) return node;
  // The else clause leaves for good: what stands behind it in the code follows the loop.
  int meet = -1;
  for (int node = exit, steps = 0; meet < 0 && node >= 0 && steps < search_limits::nodes_to_meeting; ++steps) {
    bool after = outline.nodes[node].offset > outline.nodes[exhausted].offset || outline.nodes[node].pops_iterator;
    if ((after && behind(node)) || node == place.next || node == place.cont) meet = node;
    else node = outline.nodes[node].end == Node::End::go ? outline.nodes[node].a : -1;
  }
  for (int node : {place.next, place.cont})
    if (meet < 0 && reaches(outline, exit, node, place)) meet = node;
  return meet;
}

// The first node that does something behind a `break` of the for loop at `header`, which has dropped the iterator already; -1: none.
int behind_break(const Outline& outline, int header, int exit) {
  if (outline.nodes[header].end != Node::End::loop) return -1;
  for (int steps = 0; exit >= 0 && steps < search_limits::nodes_behind_break; ++steps, exit = outline.nodes[exit].a) {
    const Node& info = outline.nodes[exit];
    if (info.iterators > outline.nodes[header].iterators) return -1;
    if (!info.statements.empty() || info.end != Node::End::go) return exit;
  }
  return -1;
}

LoopExits loop_exits(const Outline& outline, int header, int exhausted, const Place& place) {
  LoopExits ways;
  auto& [exits, lexical, go_round, last] = ways;
  last = outline.loop_end(header);
  std::vector<int> todo;
  for (int node : outline.members(header)) {
    last = std::max(last, outline.nodes[node].offset);
    todo.push_back(node);
  }
  int region = outline.nodes[header].region;
  // 3.8: what stands behind the handlers of a statement in the loop does so too, as the jump back comes last.
  if (!outline.dead_ends().empty())
    for (int node : outline.members(header)) {
      if (outline.nodes[node].end != Node::End::setup || outline.nodes[node].b < 0) continue;
      const int dead = outline.dead_end_of(outline.nodes[outline.nodes[node].b].region),
                to = dead < 0 ? -1 : outline.nodes[dead].a;
      if (to < 0) continue;
      if (outline.in_loop(to, header)) go_round.push_back(node);
      else if (outline.nodes[to].behind_handlers && outline.cfg().inside(outline.nodes[to].region, region) &&
               lexical.insert(to).second)
        todo.push_back(to);
    }
  while (!todo.empty()) {
    int node = todo.back();
    todo.pop_back();
    for (int next : outline.successors(node)) {
      if (outline.in_loop(next, header) || next == exhausted || lexical.contains(next)) continue;
      int own = outline.nodes[next].region;
      const bool behind = outline.nodes[next].else_break && own == region;
      if (place.leads_to(next)) exits.insert(next);
      else if (behind || (own != region && outline.cfg().inside(own, region))) {
        if (lexical.insert(next).second) todo.push_back(next);
      } else if (outline.cfg().inside(own, place.region)) {
        exits.insert(next);
      }
    }
  }
  return ways;
}

// With an else clause, `break` goes where that clause, which starts at `exhausted`, and what the loop leaves for meet.
int after_else(const Outline& outline, int header, int exhausted, const Place& place, const LoopExits& ways) {
  int best = -1;
  // `else: continue`: what has left the iterator behind and goes round the loop around stands after the loop.
  auto behind = [&](int node) {
    return !place.leads_to(node) && place.jumps_to(exhausted) && outline.nodes[header].end == Node::End::loop &&
           outline.nodes[node].iterators <= outline.nodes[header].iterators;
  };
  for (int exit : ways.exits) {
    if (outline.trivial_tail(exit) && exit != place.next) continue;
    // What raises or returns above the else clause does so in the loop.
    if (outline.nodes[exit].line >= 0 && outline.nodes[exit].line < outline.nodes[exhausted].line &&
        leaves_at_once(outline, exit))
      continue;
    int meet = -1;
    if (behind(exit)) meet = exit;
    // The test of the loop leads round the loop around, or past what surrounds it, and so does each `break`. Code that one way
    // alone leaves for, and that returns or raises in the end, stands in the loop.
    else if (outline.nodes[header].end != Node::End::loop && place.leads_to(exhausted) &&
             outline.forward_preds(exit) == 1 && leaves_for_good(outline, exit, place))
      continue;
    else if (!reaches(outline, exit, exhausted, place)) meet = else_meet(outline, header, exit, exhausted, place);
    // `else: ...; continue`: what runs when the iterator is gone stands behind the loop.
    if (meet >= 0 && meet == place.cont)
      if (const int at = behind_break(outline, header, exit); at >= 0 && !place.leads_to(at)) meet = at;
    if (meet >= 0 && (best < 0 || outline.order(meet) < outline.order(best))) best = meet;
  }
  return best >= 0 ? best : exhausted;
}

// Of a loop that ends by `break` alone.
int after_endless(const Outline& outline, const Claims& claims, int header, const Place& place, const LoopExits& ways) {
  const auto& [exits, lexical, go_round, last] = ways;
  for (int exit : exits)
    if (exit == place.next) return exit;
  int best = -1;
  auto consider = [&](int dominator) {
    for (int node : outline.dominated(dominator)) {
      if (best >= 0 && outline.order(node) >= outline.order(best)) break;
      if (outline.in_loop(node, header) || outline.forward_preds(node) < 2 || lexical.contains(node)) continue;
      if (outline.trivial_tail(node) || !outline.cfg().inside(outline.nodes[node].region, place.region)) continue;
      if (place.loop >= 0 && !outline.in_loop(node, place.loop) && claims.claimed[node]) continue;
      best = node;
    }
  };
  for (int node : outline.members(header)) consider(node);
  for (int node : lexical) consider(node);
  if (best >= 0) return best;
  // Ways that meet past what stands behind their statement meet behind the loop.
  for (int node : go_round)
    for (int other : outline.dominated(node))
      if (!outline.in_loop(other, header) && outline.forward_preds(other) >= 2 && !lexical.contains(other) &&
          !claims.claimed[other] && outline.cfg().inside(outline.nodes[other].region, place.region))
        return other;
  for (int exit : exits)
    if (place.jumps_to(exit)) return exit;
  for (int exit : exits) {
    if (outline.trivial_tail(exit) || leaves_at_once(outline, exit)) continue;
    if (outline.nodes[exit].offset > last && (best < 0 || outline.nodes[exit].offset > outline.nodes[best].offset))
      best = exit;
  }
  // Not where another way out goes on past it: then both end in `break`.
  if (best >= 0 && exits.size() > 1)
    for (int exit : exits)
      if (exit != best && reaches(outline, exit, place.next, place) && !reaches(outline, exit, best, place))
        return place.next;
  // A statement that every way through its body leaves the loop by: what stands behind it comes later in the code.
  if (best < 0)
    for (int node : lexical)
      for (int next : outline.successors(node))
        if (exits.contains(next) && !outline.trivial_tail(next) &&
            (best < 0 || outline.nodes[next].offset > outline.nodes[best].offset))
          best = next;
  return best;
}

// True if no way from `node` leads to one of the places that surround it, or back in a loop.
bool leaves_for_good(const Outline& outline, int node, const Place& place) {
  std::vector<int> todo{node};
  std::set<int> seen{node};
  while (!todo.empty()) {
    node = todo.back();
    todo.pop_back();
    for (int next : outline.successors(node)) {
      if (place.leads_to(next) || outline.order(next) <= outline.order(node)) return false;
      if (seen.insert(next).second) todo.push_back(next);
    }
  }
  return true;
}

// Does it but return or raise, for one place only?
bool leaves_at_once(const Outline& outline, int node) {
  const Node& info = outline.nodes[node];
  if (outline.forward_preds(node) > 1) return false;
  if (info.end == Node::End::leave)
    return std::ranges::all_of(info.statements, [](const Stmt* stmt) { return is<InternalStmt>(stmt); });
  return info.end == Node::End::stop && info.statements.size() == 1;
}

}  // namespace

// Asked from both sides in turn: one of them is near, where the rest of a long function lies on the other.
bool reaches(const Outline& outline, int from, int to, const Place& place) {
  if (from < 0 || to < 0) return false;
  if (from == to) return true;
  if (place.leads_to(from)) return false;
  std::vector<int> forward{from}, backward{to};
  std::set<int> seen, seen_back;
  while (!forward.empty() && !backward.empty()) {
    int node = forward.back();
    forward.pop_back();
    for (int next : outline.successors(node)) {
      if (next == to) return true;
      if (outline.order(next) <= outline.order(node) || place.leads_to(next)) continue;
      if (seen.insert(next).second) forward.push_back(next);
    }
    node = backward.back();
    backward.pop_back();
    for (int pred : outline.preds(node)) {
      if (pred == from) return true;
      const bool ahead = outline.order(pred) < outline.order(node) || node == to;  // the last step may go back
      if (!ahead || outline.order(pred) < outline.order(from) || place.leads_to(pred)) continue;
      if (seen_back.insert(pred).second) backward.push_back(pred);
    }
  }
  return false;
}

int after_loop(const Outline& outline, const Claims& claims, int header, int exhausted, const Place& place) {
  const LoopExits ways = loop_exits(outline, header, exhausted, place);
  return exhausted >= 0 ? after_else(outline, header, exhausted, place, ways)
                        : after_endless(outline, claims, header, place, ways);
}

int after_single_pass(const Outline& outline, int header, int body, int exhausted, const Place& place) {
  if (exhausted < 0 || reaches(outline, body, exhausted, place)) return exhausted;
  const int meet = else_meet(outline, header, body, exhausted, place);
  return meet >= 0 ? meet : exhausted;
}

}  // namespace depyf
