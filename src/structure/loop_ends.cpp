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

#include "structure/structurer.h"
#include "support/search_limits.h"

namespace depyf {
using namespace ast;

void Structurer::find_loop_ends() {
  std::vector<std::uint32_t> last(cfg_.code.size());  // by where they lead
  for (int at = 0; at < int(cfg_.code.size()); ++at)
    if (const Instruction& it = cfg_.code[at]; it.op == Op::jump_ && it.target >= 0 && it.target <= at)
      last[it.target] = it.offset;
  loop_end_.resize(nodes_.size());
  for (int block = 0; block < int(cfg_.blocks.size()); ++block)
    if (int begin = cfg_.blocks[block].begin; begin < int(last.size())) loop_end_[block] = last[begin];
}

// Does control get from one to the other without going round a loop, or past the places that surround `place`?
// Asked from both sides in turn: one of them is near, where the rest of a long function lies on the other.
bool Structurer::reaches(int from, int to, const Place& place) const {
  if (from < 0 || to < 0) return false;
  if (from == to) return true;
  if (place.leads_to(from)) return false;
  std::vector<int> forward{from}, backward{to};
  std::set<int> seen, seen_back;
  while (!forward.empty() && !backward.empty()) {
    int node = forward.back();
    forward.pop_back();
    for (int next : graph_.successors(node)) {
      if (next == to) return true;
      if (graph_.order(next) <= graph_.order(node) || place.leads_to(next)) continue;
      if (seen.insert(next).second) forward.push_back(next);
    }
    node = backward.back();
    backward.pop_back();
    for (int pred : graph_.preds(node)) {
      if (pred == from) return true;
      const bool ahead = graph_.order(pred) < graph_.order(node) || node == to;  // the last step may go back
      if (!ahead || graph_.order(pred) < graph_.order(from) || place.leads_to(pred)) continue;
      if (seen_back.insert(pred).second) backward.push_back(pred);
    }
  }
  return false;
}

// Where the else clause of a loop, which starts at `exhausted`, and a way out of it to `exit` meet; -1: nowhere.
int Structurer::else_meet(int header, int exit, int exhausted, const Place& place) const {
  // What still has the iterator on the stack has not come to its break yet, or leaves by return or raise.
  auto behind = [&](int node) {
    return nodes_[header].end != Node::End::loop || nodes_[node].iterators <= nodes_[header].iterators;
  };
  // Both ways forward at once, in order: the first node that both come to. 1: from the exit, 2: from the else clause.
  std::map<int, int> ahead;  // by order
  int open[2] = {0, 0};  // entries of each side
  auto visit = [&](int node, int sides) {
    int& known = ahead[graph_.order(node)];
    for (int side : {0, 1}) open[side] += (sides & ~known) >> side & 1;
    known |= sides;
  };
  visit(exit, 1), visit(exhausted, 2);
  while (open[0] > 0 && open[1] > 0) {  // one that has come to its end meets nobody
    auto [order, sides] = *ahead.begin();
    ahead.erase(ahead.begin());
    for (int side : {0, 1}) open[side] -= sides >> side & 1;
    int node = graph_.sequence()[order];
    if (sides == 3 && !graph_.in_loop(node, header) && node != place.next && node != place.cont &&
        graph_.forward_preds(node) > 1 && behind(node))
      return node;
    if (place.leads_to(node)) continue;
    for (int next : graph_.successors(node))
      if (graph_.order(next) > order) visit(next, sides);
  }
  for (int node : {place.next, place.cont})
    if (node >= 0 && reaches(exit, node, place) && reaches(exhausted, node, place)) return node;
  // The else clause leaves for good: what stands behind it in the code follows the loop.
  int meet = -1;
  for (int node = exit, steps = 0; meet < 0 && node >= 0 && steps < search_limits::nodes_to_meeting; ++steps) {
    bool after = nodes_[node].offset > nodes_[exhausted].offset || nodes_[node].pops_iterator;
    if ((after && behind(node)) || node == place.next || node == place.cont) meet = node;
    else node = nodes_[node].end == Node::End::go ? nodes_[node].a : -1;
  }
  for (int node : {place.next, place.cont})
    if (meet < 0 && reaches(exit, node, place)) meet = node;
  return meet;
}

// The first node that does something behind a `break` of the for loop at `header`, which has dropped the iterator already; -1: none.
int Structurer::behind_break(int header, int exit) const {
  if (nodes_[header].end != Node::End::loop) return -1;
  for (int steps = 0; exit >= 0 && steps < search_limits::nodes_behind_break; ++steps, exit = nodes_[exit].a) {
    const Node& info = nodes_[exit];
    if (info.iterators > nodes_[header].iterators) return -1;
    if (!info.statements.empty() || info.end != Node::End::go) return exit;
  }
  return -1;
}

// The node that stands after the loop, to which `break` goes; -1: none.
int Structurer::after_loop(int header, int exhausted, const Place& place) const {
  const LoopExits ways = loop_exits(header, exhausted, place);
  return exhausted >= 0 ? after_else(header, exhausted, place, ways) : after_endless(header, place, ways);
}

Structurer::LoopExits Structurer::loop_exits(int header, int exhausted, const Place& place) const {
  LoopExits ways;
  auto& [exits, lexical, go_round, last] = ways;
  last = loop_end_[header];
  std::vector<int> todo;
  for (int node : graph_.members(header)) {
    last = std::max(last, nodes_[node].offset);
    todo.push_back(node);
  }
  int region = nodes_[header].region;
  // 3.8: what stands behind the handlers of a statement in the loop does so too, as the jump back comes last.
  if (!dead_ends_.empty())
    for (int node : graph_.members(header)) {
      if (nodes_[node].end != Node::End::setup || nodes_[node].b < 0) continue;
      const int dead = dead_end_of(nodes_[nodes_[node].b].region), to = dead < 0 ? -1 : nodes_[dead].a;
      if (to < 0) continue;
      if (graph_.in_loop(to, header)) go_round.push_back(node);
      else if (nodes_[to].behind_handlers && cfg_.inside(nodes_[to].region, region) && lexical.insert(to).second)
        todo.push_back(to);
    }
  while (!todo.empty()) {
    int node = todo.back();
    todo.pop_back();
    for (int next : graph_.successors(node)) {
      if (graph_.in_loop(next, header) || next == exhausted || lexical.contains(next)) continue;
      int own = nodes_[next].region;
      const bool behind = nodes_[next].else_break && own == region;
      if (place.leads_to(next)) exits.insert(next);
      else if (behind || (own != region && cfg_.inside(own, region))) {
        if (lexical.insert(next).second) todo.push_back(next);
      } else if (cfg_.inside(own, place.region)) {
        exits.insert(next);
      }
    }
  }
  return ways;
}

// With an else clause, `break` goes where that clause, which starts at `exhausted`, and what the loop leaves for meet.
int Structurer::after_else(int header, int exhausted, const Place& place, const LoopExits& ways) const {
  int best = -1;
  // `else: continue`: what has left the iterator behind and goes round the loop around stands after the loop.
  auto behind = [&](int node) {
    return !place.leads_to(node) && place.jumps_to(exhausted) && nodes_[header].end == Node::End::loop &&
           nodes_[node].iterators <= nodes_[header].iterators;
  };
  for (int exit : ways.exits) {
    if (trivial_tail(exit) && exit != place.next) continue;
    // What raises or returns above the else clause does so in the loop.
    if (nodes_[exit].line >= 0 && nodes_[exit].line < nodes_[exhausted].line && leaves_at_once(exit)) continue;
    int meet = -1;
    if (behind(exit)) meet = exit;
    // The test of the loop leads round the loop around, or past what surrounds it, and so does each `break`. Code that one way
    // alone leaves for, and that returns or raises in the end, stands in the loop.
    else if (nodes_[header].end != Node::End::loop && place.leads_to(exhausted) && graph_.forward_preds(exit) == 1 &&
             leaves_for_good(exit, place))
      continue;
    else if (!reaches(exit, exhausted, place)) meet = else_meet(header, exit, exhausted, place);
    // `else: ...; continue`: what runs when the iterator is gone stands behind the loop.
    if (meet >= 0 && meet == place.cont)
      if (const int at = behind_break(header, exit); at >= 0 && !place.leads_to(at)) meet = at;
    if (meet >= 0 && (best < 0 || graph_.order(meet) < graph_.order(best))) best = meet;
  }
  return best >= 0 ? best : exhausted;
}

// Of a loop that ends by `break` alone.
int Structurer::after_endless(int header, const Place& place, const LoopExits& ways) const {
  const auto& [exits, lexical, go_round, last] = ways;
  for (int exit : exits)
    if (exit == place.next) return exit;
  int best = -1;
  auto consider = [&](int dominator) {
    for (int node : graph_.dominated(dominator)) {
      if (best >= 0 && graph_.order(node) >= graph_.order(best)) break;
      if (graph_.in_loop(node, header) || graph_.forward_preds(node) < 2 || lexical.contains(node)) continue;
      if (trivial_tail(node) || !cfg_.inside(nodes_[node].region, place.region)) continue;
      if (place.loop >= 0 && !graph_.in_loop(node, place.loop) && claimed_[node]) continue;
      best = node;
    }
  };
  for (int node : graph_.members(header)) consider(node);
  for (int node : lexical) consider(node);
  if (best >= 0) return best;
  // Ways that meet past what stands behind their statement meet behind the loop.
  for (int node : go_round)
    for (int other : graph_.dominated(node))
      if (!graph_.in_loop(other, header) && graph_.forward_preds(other) >= 2 && !lexical.contains(other) &&
          !claimed_[other] && cfg_.inside(nodes_[other].region, place.region))
        return other;
  for (int exit : exits)
    if (place.jumps_to(exit)) return exit;
  for (int exit : exits) {
    if (trivial_tail(exit) || leaves_at_once(exit)) continue;
    if (nodes_[exit].offset > last && (best < 0 || nodes_[exit].offset > nodes_[best].offset)) best = exit;
  }
  // Not where another way out goes on past it: then both end in `break`.
  if (best >= 0 && exits.size() > 1)
    for (int exit : exits)
      if (exit != best && reaches(exit, place.next, place) && !reaches(exit, best, place)) return place.next;
  // A statement that every way through its body leaves the loop by: what stands behind it comes later in the code.
  if (best < 0)
    for (int node : lexical)
      for (int next : graph_.successors(node))
        if (exits.contains(next) && !trivial_tail(next) && (best < 0 || nodes_[next].offset > nodes_[best].offset))
          best = next;
  return best;
}

// The node that stands after a for loop whose body never goes round: every way through it ends in `break`, or leaves for good.
int Structurer::after_single_pass(int header, int body, int exhausted, const Place& place) const {
  if (exhausted < 0 || reaches(body, exhausted, place)) return exhausted;
  const int meet = else_meet(header, body, exhausted, place);
  return meet >= 0 ? meet : exhausted;
}

// True if no way from `node` leads to one of the places that surround it, or back in a loop.
bool Structurer::leaves_for_good(int node, const Place& place) const {
  std::vector<int> todo{node};
  std::set<int> seen{node};
  while (!todo.empty()) {
    node = todo.back();
    todo.pop_back();
    for (int next : graph_.successors(node)) {
      if (place.leads_to(next) || graph_.order(next) <= graph_.order(node)) return false;
      if (seen.insert(next).second) todo.push_back(next);
    }
  }
  return true;
}

// Does it but return or raise, for one place only?
bool Structurer::leaves_at_once(int node) const {
  const Node& info = nodes_[node];
  if (graph_.forward_preds(node) > 1) return false;
  if (info.end == Node::End::leave)
    return std::ranges::all_of(info.statements, [](const Stmt* stmt) { return is<InternalStmt>(stmt); });
  return info.end == Node::End::stop && info.statements.size() == 1;
}

}  // namespace depyf
