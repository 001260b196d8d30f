#include "structure/structurer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace depyf {
using namespace ast;

namespace {
constexpr int depth_max = 4000;  // a chain of elif is as deep as it is long
}

Structurer::Structurer(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return)
    : context_(context),
      graph_(lifted.nodes, lifted.entry),
      nodes_(lifted.nodes),
      cfg_(cfg),
      finally_ends_(lifted.finally_ends),
      claimed_(lifted.nodes.size()),
      emitted_(lifted.nodes.size()),
      after_star_(lifted.nodes.size()),
      may_return_(may_return) {
  find_regions();
  find_loop_ends();
  for (int node : graph_.sequence())
    if (nodes_[node].end == Node::End::stop && nodes_[node].a >= 0) dead_ends_.push_back(node);
  find_star_ends();
}

void Structurer::find_loop_ends() {
  std::vector<std::uint32_t> last(cfg_.code.size());  // by where they lead
  for (int at = 0; at < int(cfg_.code.size()); ++at)
    if (const Instruction& it = cfg_.code[at]; it.op == Op::jump_ && it.target >= 0 && it.target <= at)
      last[it.target] = it.offset;
  loop_end_.resize(nodes_.size());
  for (int block = 0; block < int(cfg_.blocks.size()); ++block)
    if (int begin = cfg_.blocks[block].begin; begin < int(last.size())) loop_end_[block] = last[begin];
}

void Structurer::find_regions() {
  std::vector<int> parents;
  for (const Region& region : cfg_.regions) parents.push_back(region.parent);
  regions_ = Forest(parents, graph_.sequence(), [&](int node) { return nodes_[node].region; });
}

void Structurer::fail(const char* what, int node) const {
  throw InternalError{what, node >= 0 ? nodes_[node].offset : 0};
}

Block Structurer::run() {
  if (graph_.irreducible()) fail("a loop with two entries", graph_.entry);
  Statements out;
  emit(graph_.entry, Place{}, out);
  return clean(context_, block(out));
}

bool Structurer::trivial_tail(int node) const {
  const Node& info = nodes_[node];
  if (info.end != Node::End::leave || !may_return_ || after_star_[node]) return false;
  for (const Stmt* stmt : info.statements) {
    auto* internal = as<InternalStmt>(stmt);
    if (!internal || (internal->marker != StmtMarker::pop_except && internal->marker != StmtMarker::with_exit))
      return false;
  }
  return info.inherited || is_kept_back(info.value);
}

// A constant that a `return` loads behind what a `finally` or `with` around it does, so that the place does not tell whether it
// stands within. From 3.14 on those are not that the compiler folds only later.
bool Structurer::is_kept_back(const Expr* value) const {
  auto* node = as<ConstantExpr>(value);
  if (!node || context_.version < Version{3, 14}) return node;
  switch (const Constant& constant = *node->value; constant.kind) {
    case Constant::Kind::integer: return !constant.text.starts_with('-');
    case Constant::Kind::real: return !std::signbit(constant.real);
    case Constant::Kind::complex: return !std::signbit(constant.imag) && constant.real == 0;
    case Constant::Kind::tuple:
    case Constant::Kind::frozenset: return false;
    default: return true;
  }
}

bool Structurer::leaves(std::span<Stmt* const> out) const {
  if (out.empty()) return false;
  const Stmt* last = out.back();
  if (is<Return>(last) || is<Raise>(last) || is<Break>(last) || is<Continue>(last)) return true;
  if (auto* internal = as<InternalStmt>(last)) return internal->marker == StmtMarker::reraise;
  auto all = [&](Block body) { return leaves(body); };
  if (auto* branch = as<If>(last)) return !branch->orelse.empty() && all(branch->body) && all(branch->orelse);
  if (auto* match = as<Match>(last)) {
    auto* rest = as<MatchAs>(match->cases.back().pattern);
    return rest && !rest->pattern && !match->cases.back().guard &&
           std::all_of(match->cases.begin(), match->cases.end(), [&](const MatchCase& each) { return all(each.body); });
  }
  if (auto* attempt = as<Try>(last)) {
    if (!attempt->finalbody.empty() && all(attempt->finalbody)) return true;
    if (!(attempt->orelse.empty() ? all(attempt->body) : all(attempt->orelse))) return false;
    return std::all_of(attempt->handlers.begin(), attempt->handlers.end(),
                       [&](const ExceptHandler& h) { return all(h.body); });
  }
  return false;
}

// The nodes where ways meet that stand after `node`, in order.
std::vector<int> Structurer::merges(int node, const Place& place) {
  std::vector<int> found;
  for (int other : graph_.dominated(node)) {
    // One that leaves the loop for good (a return that several ways share) is placed like any other.
    if (claimed_[other] || graph_.forward_preds(other) < 2) continue;
    if (!cfg_.inside(nodes_[other].region, place.region)) continue;
    found.push_back(other);
  }
  return found;
}

void Structurer::emit(int node, Place place, Statements& out) {
  if (++depth_ > depth_max) fail("nested too deeply", node);
  while (node >= 0) {
    if (graph_.is_header(node) && place.cont != node) {
      // What lies behind the loop but not in it is placed by the loop.
      node = step_to(loop(node, place, out), place);
      continue;
    }
    if (emitted_[node]) fail("a block in two places", node);
    emitted_[node] = 1;
    out.insert(out.end(), nodes_[node].statements.begin(), nodes_[node].statements.end());
    int next = -1;
    if (is_case(node)) {
      next = match(node, place, out);
    } else if (nodes_[node].end == Node::End::loop) {
      next = loop(node, place, out);
    } else if (nodes_[node].end == Node::End::setup) {
      next = protect(node, place, out);
    } else {
      std::vector<int> after = merges(node, place);
      for (int other : after) claimed_[other] = 1;
      Place inner = place;
      if (!after.empty()) inner.next = after[0];
      next = terminator(node, inner, out, after.empty());
      if (!after.empty()) next = place_all(after, place, out);
    }
    node = step_to(next, place);
  }
  --depth_;
}

// Nodes that leave the loop for good stand in it all the same; their own merges are in no loop or in one further out.
int Structurer::step_to(int node, Place& place) const {
  if (node < 0 || place.loop < 0 || graph_.in_loop(node, place.loop)) return node;
  place.loop = graph_.loop_of(node);
  if (place.loop == node) place.loop = graph_.outer_loop(node);
  return node;
}

void Structurer::place_node(int node, Place place, Statements& out) {
  step_to(node, place);
  emit(node, place, out);
}

// Places `nodes` one after the other; the last is what is left to do.
int Structurer::place_all(const std::vector<int>& nodes, const Place& place, Statements& out) {
  for (std::size_t index = 0; index + 1 < nodes.size(); ++index) {
    Place step = place;
    step.next = nodes[index + 1];
    place_node(nodes[index], step, out);
  }
  return nodes.empty() ? -1 : nodes.back();
}

int Structurer::terminator(int node, const Place& place, Statements& out, bool tail) {
  const Node& info = nodes_[node];
  switch (info.end) {
    case Node::End::go: return go(info.a, place, out, tail);
    case Node::End::branch: return branch(node, place, out, tail);
    case Node::End::leave: out.push_back(make(Return{info.value}, info)); return -1;
    default: return -1;
  }
}

int Structurer::go(int target, const Place& place, Statements& out, bool tail) {
  if (target == place.next) return -1;
  if (target == place.cont) {
    out.push_back(context_.stmt(Continue{}, nodes_[target].offset, nodes_[target].line));
    return -1;
  }
  if (target == place.brk) {
    out.push_back(context_.stmt(Break{}, nodes_[target].offset, nodes_[target].line));
    return -1;
  }
  if (target < 0) fail("control goes nowhere", target);
  const Node& info = nodes_[target];
  bool first = !emitted_[target] && !claimed_[target] && graph_.forward_preds(target) == 1;
  if (trivial_tail(target) && (!first || !cfg_.inside(info.region, place.region))) {
    out.insert(out.end(), info.statements.begin(), info.statements.end());
    out.push_back(make(Return{info.value}, info));
    return -1;
  }
  if (!first) fail("ways meet where no statement ends", target);
  if (!cfg_.inside(info.region, place.region)) fail("a way out of a statement", target);
  if (tail) return target;
  place_node(target, place, out);
  return -1;
}

// 3.8: what stands behind a statement that never goes on lies behind the else clause, which starts at `second`.
bool Structurer::skips_else(int first, int second, const Statements& body) const {
  if (dead_ends_.empty() || !is<Try>(body.back())) return false;
  return std::ranges::any_of(dead_ends_, [&](int node) {
    return graph_.order(node) >= 0 && graph_.dominates(first, node) && nodes_[node].a != second &&
           nodes_[node].end_offset != start_of(second) && nodes_[node].region >= 0 &&
           cfg_.inside(nodes_[first].region, nodes_[nodes_[node].a].region);
  });
}

int Structurer::branch(int node, const Place& place, Statements& out, bool tail) {
  const Node& info = nodes_[node];
  auto* internal = as<Internal>(info.value);
  bool handler = internal && (internal->marker == Marker::exc_match || internal->marker == Marker::eg_match);
  if (info.a == info.b) {
    out.push_back(make(If{info.value, block({make(Pass{}, info)}), {}}, info));
    return go(info.a, place, out, tail);
  }
  // A jump back that was not turned around stands for itself: `if c: continue`.
  if (!handler && info.turned == Turned::no && place.cont >= 0 && place.next == place.cont &&
      (info.a == place.cont || info.b == place.cont) && nodes_[place.cont].offset < info.offset) {
    const bool on_true = info.a == place.cont;
    if (on_true || !negation_changes(context_, info.value)) {
      Expr* test = on_true ? info.value : negate(context_, info.value);
      out.push_back(make(If{test, block({make(Continue{}, info)}), {}}, info));
      return go(on_true ? info.b : info.a, place, out, tail);
    }
  }
  // What stands first in the code is the body.
  bool negated = !handler && info.b >= 0 && info.a >= 0 && nodes_[info.b].offset < nodes_[info.a].offset;
  if (!handler) {
    bool jump_a = info.a == place.next, jump_b = info.b == place.next;
    bool far_a = info.a == place.cont || info.a == place.brk, far_b = info.b == place.cont || info.b == place.brk;
    if (jump_a) negated = true;
    else if (jump_b) negated = false;
    else if (far_a && !far_b) negated = false;   // `if c: continue` before the rest
    else if (far_b && !far_a) negated = true;
  }
  // A negation that would be another instruction is avoided: `if c: continue`, or the arms exchanged.
  if (negated && negation_changes(context_, info.value)) negated = false;
  else if (!negated && !handler && as<UnaryExpr>(info.value) && as<UnaryExpr>(info.value)->op == UnaryOp::not_ &&
           negation_changes(context_, as<UnaryExpr>(info.value)->operand))
    negated = true;
  int first = negated ? info.b : info.a, second = negated ? info.a : info.b;
  Expr* test = negated ? negate(context_, info.value) : info.value;
  Statements body, orelse;
  go(first, place, body, false);
  if (!handler && !body.empty() && leaves(body) && !skips_else(first, second, body)) {
    out.push_back(make(If{test, block(body), {}}, info));
    return go(second, place, out, tail);
  }
  go(second, place, orelse, false);
  if (body.empty() && !orelse.empty() && !handler) {
    bool wrapped = as<BoolOp>(test) && negation_cost(context_, test) > negation_cost(context_, negate(context_, test));
    if (!negation_changes(context_, test) && !(wrapped && place.next == place.cont && place.cont >= 0)) {
      test = negate(context_, test);
      std::swap(body, orelse);
    } else if (place.next == place.cont && place.cont >= 0) {
      // At the end of a loop's body the way on is `continue`, and the rest needs no else.
      body.push_back(make(Continue{}, info));
      out.push_back(make(If{test, block(body), {}}, info));
      out.insert(out.end(), orelse.begin(), orelse.end());
      return -1;
    }
  }
  if (body.empty()) body.push_back(make(Pass{}, info));
  out.push_back(make(If{test, block(body), block(orelse)}, info));
  return -1;
}

// Does control get from one to the other without going round a loop, or past the places that surround `place`?
// Asked from both sides in turn: one of them is near, where the rest of a long function lies on the other.
bool Structurer::reaches(int from, int to, const Place& place) const {
  if (from < 0 || to < 0) return false;
  if (from == to) return true;
  auto stops = [&](int node) { return node == place.next || node == place.cont || node == place.brk; };
  if (stops(from)) return false;
  std::vector<int> forward{from}, backward{to};
  std::set<int> seen, seen_back;
  while (!forward.empty() && !backward.empty()) {
    int node = forward.back();
    forward.pop_back();
    for (int next : graph_.successors(node)) {
      if (next == to) return true;
      if (graph_.order(next) <= graph_.order(node) || stops(next)) continue;
      if (seen.insert(next).second) forward.push_back(next);
    }
    node = backward.back();
    backward.pop_back();
    for (int pred : graph_.preds(node)) {
      if (pred == from) return true;
      const bool ahead = graph_.order(pred) < graph_.order(node) || node == to;  // the last step may go back
      if (!ahead || graph_.order(pred) < graph_.order(from) || stops(pred)) continue;
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
  int open[2] = {0, 0};      // entries of each side
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
    if (node == place.next || node == place.cont || node == place.brk) continue;
    for (int next : graph_.successors(node))
      if (graph_.order(next) > order) visit(next, sides);
  }
  for (int node : {place.next, place.cont})
    if (node >= 0 && reaches(exit, node, place) && reaches(exhausted, node, place)) return node;
  // The else clause leaves for good: what stands behind it in the code follows the loop.
  int meet = -1;
  for (int node = exit, steps = 0; meet < 0 && node >= 0 && steps < 1000; ++steps) {
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
  for (int steps = 0; exit >= 0 && steps < 100; ++steps, exit = nodes_[exit].a) {
    const Node& info = nodes_[exit];
    if (info.iterators > nodes_[header].iterators) return -1;
    if (!info.statements.empty() || info.end != Node::End::go) return exit;
  }
  return -1;
}

// The node that stands after the loop, to which `break` goes; -1: none.
int Structurer::after_loop(int header, int exhausted, const Place& place) const {
  std::set<int> exits;
  std::uint32_t last = loop_end_[header];  // what lies before the loop's end is no place to go on
  // A handler that leaves the loop belongs to a statement within it: what counts is where the handler goes.
  std::vector<int> todo;
  std::set<int> lexical;
  for (int node : graph_.members(header)) {
    last = std::max(last, nodes_[node].offset);
    todo.push_back(node);
  }
  int region = nodes_[header].region;
  // 3.8: what stands behind the handlers of a statement in the loop does so too, as the jump back comes last.
  std::vector<int> go_round;  // of those statements: where what stands behind leads back
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
      if (next == place.next || next == place.cont || next == place.brk) exits.insert(next);
      else if (behind || (own != region && cfg_.inside(own, region))) {
        if (lexical.insert(next).second) todo.push_back(next);
      } else if (cfg_.inside(own, place.region)) {
        exits.insert(next);
      }
    }
  }
  if (exhausted >= 0) {
    // With an else clause, `break` goes where that clause and what the loop leaves for meet.
    int best = -1;
    // `else: continue`: what has left the iterator behind and goes round the loop around stands after the loop.
    auto behind = [&](int node) {
      const bool own = node != place.next && node != place.cont && node != place.brk;
      return own && (exhausted == place.cont || exhausted == place.brk) && nodes_[header].end == Node::End::loop &&
             nodes_[node].iterators <= nodes_[header].iterators;
    };
    for (int exit : exits) {
      if (trivial_tail(exit) && exit != place.next) continue;
      // What raises or returns above the else clause does so in the loop.
      if (nodes_[exit].line >= 0 && nodes_[exit].line < nodes_[exhausted].line && leaves_at_once(exit)) continue;
      int meet = -1;
      if (behind(exit)) meet = exit;
      else if (!reaches(exit, exhausted, place)) meet = else_meet(header, exit, exhausted, place);
      // `else: ...; continue`: what runs when the iterator is gone stands behind the loop.
      if (meet >= 0 && meet == place.cont)
        if (const int at = behind_break(header, exit);
            at >= 0 && at != place.next && at != place.cont && at != place.brk)
          meet = at;
      if (meet >= 0 && (best < 0 || graph_.order(meet) < graph_.order(best))) best = meet;
    }
    return best >= 0 ? best : exhausted;
  }
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
    if (exit == place.cont || exit == place.brk) return exit;
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

// Does `exit`, which is not in the loop, stand between its lines? Then the test of the loop does not lead to it.
bool Structurer::stands_within(int header, int exit) const {
  if (exit < 0 || graph_.forward_preds(exit) > 1 || nodes_[exit].line <= nodes_[header].line) return false;
  return std::ranges::any_of(graph_.members(header), [&](int node) { return nodes_[node].line > nodes_[exit].line; });
}

// Does it but return or raise, for one place only?
bool Structurer::leaves_at_once(int node) const {
  const Node& info = nodes_[node];
  if (graph_.forward_preds(node) > 1) return false;
  if (info.end == Node::End::leave)
    return std::ranges::all_of(info.statements, [](const Stmt* stmt) { return is<InternalStmt>(stmt); });
  return info.end == Node::End::stop && info.statements.size() == 1;
}

int Structurer::loop(int header, const Place& place, Statements& out) {
  const Node& info = nodes_[header];
  bool back = graph_.is_header(header);
  bool is_for = info.end == Node::End::loop;
  bool is_while = back && !is_for && info.end == Node::End::branch && info.statements.empty() &&
                  graph_.in_loop(info.a, header) != graph_.in_loop(info.b, header) && info.a != info.b &&
                  !stands_within(header, graph_.in_loop(info.a, header) ? info.b : info.a);
  int body_at = -1, exhausted = -1;
  Expr* test = nullptr;
  if (is_for) {
    body_at = info.a, exhausted = info.b;
  } else if (is_while) {
    bool straight = graph_.in_loop(info.a, header);
    body_at = straight ? info.a : info.b, exhausted = straight ? info.b : info.a;
    test = straight ? info.value : negate(context_, info.value);
  }
  int follow = back ? after_loop(header, exhausted, place) : exhausted;
  bool has_else = exhausted >= 0 && follow != exhausted;
  bool own_follow = follow >= 0 && follow != place.next && follow != place.cont && follow != place.brk;
  // Several loops at the end of a with statement: each goes on to the return behind it.
  if (own_follow && claimed_[follow] && trivial_tail(follow)) own_follow = false;
  if (own_follow && claimed_[follow]) fail("a loop that ends in two places", header);
  // Behind the loop: the node that follows, then those where ways from it and from the loop meet.
  std::vector<int> after;
  if (own_follow) {
    claimed_[follow] = 1;
    auto consider = [&](int dominator) {
      for (int node : graph_.dominated(dominator)) {
        if (claimed_[node] || graph_.forward_preds(node) < 2 || (back && graph_.in_loop(node, header))) continue;
        if (graph_.order(node) < graph_.order(follow) || !cfg_.inside(nodes_[node].region, place.region)) continue;
        if (reaches(follow, node, place)) after.push_back(node);
      }
    };
    if (back)
      for (int node : graph_.members(header)) consider(node);
    else consider(header);
    std::sort(after.begin(), after.end(), [&](int a, int b) { return graph_.order(a) < graph_.order(b); });
    for (int node : after) claimed_[node] = 1;
  }
  Place inner = place;
  inner.next = inner.cont = header, inner.brk = follow >= 0 ? follow : place.next,
  inner.loop = back ? header : place.loop;
  Statements body, orelse;
  if (is_for || is_while) {
    if (back) emitted_[header] = 1;
    if (body_at == header) {
    } else if (!back) {
      inner.next = -2;
      go(body_at, inner, body, false);
    } else go(body_at, inner, body, false);
  } else {
    emit(header, inner, body);
  }
  if (has_else) {
    Place step = place;
    step.next = follow;
    if (follow == place.cont || follow == place.brk) step.next = -2;
    go(exhausted, step, orelse, false);
    if (follow == place.cont && !leaves(orelse)) orelse.push_back(make(Continue{}, info));
  }
  if (!body.empty() && is<Continue>(body.back()) && body.size() > 1) body.pop_back();
  if (body.empty()) body.push_back(make(Pass{}, info));
  Stmt* made;
  if (is_for) {
    made = make(For{info.target, info.value, block(body), block(orelse), info.is_async}, info);
  } else {
    if (!test) test = context_.constant(Constant::Kind::true_);
    made = make(While{test, block(body), block(orelse)}, info);
  }
  out.push_back(made);
  if (follow < 0) return -1;
  if (!own_follow) return follow == place.next ? -1 : go(follow, place, out, true);
  after.insert(after.begin(), follow);
  int node = place_all(after, place, out);
  if (cfg_.inside(nodes_[node].region, place.region)) return node;
  if (!trivial_tail(node)) fail("a loop ends outside its statement", node);
  out.push_back(make(Return{nodes_[node].value}, nodes_[node]));
  return -1;
}

// The nodes outside `region` that are reached from within it and only from there (from `first` on), tails aside.
std::vector<int> Structurer::exits_of(int region, int first) const {
  if (region < 0) return {};
  std::set<int> found;  // by order
  for (int pred : regions_.of(region))
    for (int node : graph_.successors(pred)) {
      if (graph_.order(pred) >= graph_.order(node) || cfg_.inside(nodes_[node].region, region)) continue;
      if (claimed_[node] || !graph_.dominates(first, node)) continue;
      if (trivial_tail(node) && !nodes_[node].behind_handlers) continue;
      found.insert(graph_.order(node));
    }
  std::vector<int> nodes;
  for (int order : found) nodes.push_back(graph_.sequence()[order]);
  return nodes;
}

int Structurer::protect(int setup, const Place& place, Statements& out) {
  const Node& info = nodes_[setup];
  int region = info.index;
  const Region& kind = cfg_.regions[region];
  if (kind.kind == Region::Kind::with) return with(setup, place, out);
  if (info.b < 0) fail("a handler that is nowhere", setup);
  std::vector<int> after = merges(setup, place);
  for (int node : after) claimed_[node] = 1;
  int handler_scope = nodes_[info.b].region;
  std::vector<int> body_exits, handler_exits;
  auto keep = [&](std::vector<int> nodes) {
    std::vector<int> kept;
    for (int node : nodes)
      if (node != place.next && node != place.cont && node != place.brk) kept.push_back(node);
    return kept;
  };
  body_exits = keep(exits_of(region, info.a));
  handler_exits = keep(exits_of(handler_scope, info.b));
  bool is_finally = kind.kind == Region::Kind::try_finally;
  int orelse_at = -1;
  if (body_exits.size() > 1 || (is_finally && !after.empty() && !body_exits.empty())) {
    if (!is_finally || body_exits.size() > 1) fail("a try statement with several ends", setup);
  }
  if (!body_exits.empty()) {
    claimed_[body_exits[0]] = 1;
    bool joined = !after.empty() || !handler_exits.empty();
    // Handlers that go on to where the statement ends make what only the body reaches its else clause.
    if (!is_finally && (joined || nodes_[body_exits[0]].else_clause || handler_falls(info.b, handler_scope, place)))
      orelse_at = body_exits[0];
    else after.insert(after.begin(), body_exits[0]);
  }
  // 3.8: an else clause that no way leads to stands behind the handlers, which go on to somewhere else.
  if (body_exits.empty() && !is_finally)
    for (std::size_t index = 0; index < handler_exits.size() && orelse_at < 0; ++index) {
      int node = handler_exits[index];
      bool dead = std::all_of(graph_.preds(node).begin(), graph_.preds(node).end(),
                              [&](int pred) { return nodes_[pred].end == Node::End::stop; });
      bool joined = !after.empty() || handler_exits.size() > 1 || handler_falls(info.b, handler_scope, place);
      if (!dead || !joined) continue;
      orelse_at = node, claimed_[node] = 1;
      handler_exits.erase(handler_exits.begin() + std::ptrdiff_t(index));
    }
  int goes_on = -1;  // what follows the statement, where it is no node of its own
  // 3.8: what control would go on to if no handler raised the exception again stands behind the statement.
  const int behind = is_finally ? -1 : dead_end_of(handler_scope);
  if (behind >= 0) {
    const int at = nodes_[behind].a;
    const bool own = std::ranges::find(after, at) != after.end();
    const bool reached = std::ranges::any_of(
        graph_.preds(at), [&](int pred) { return pred != behind && cfg_.inside(nodes_[pred].region, handler_scope); });
    bool has_else = nodes_[behind].end_offset > start_of(at);
    if (!nodes_[behind].end_offset && own) has_else = after.size() > 1 || handler_falls(info.b, handler_scope, place);
    if (own && has_else && !reached && orelse_at < 0) {
      orelse_at = at;
      std::erase(after, at);
    } else if (!own && at != place.next && after.empty() && handler_exits.empty() && orelse_at < 0 &&
               (at == place.cont || at == place.brk)) {
      goes_on = at;
    }
  }
  for (int node : handler_exits) claimed_[node] = 1, after.push_back(node);
  std::sort(after.begin(), after.end(), [&](int a, int b) { return graph_.order(a) < graph_.order(b); });
  Place inner = place;
  int next = !after.empty() ? after[0] : goes_on >= 0 ? goes_on : place.next;
  inner.next = orelse_at >= 0 ? orelse_at : next;
  inner.region = region;
  Statements body, handler, orelse;
  go_into(info.a, inner, body);
  if (orelse_at >= 0) {
    Place step = place;
    step.next = next;
    place_node(orelse_at, step, orelse);
    // The jump to an else clause that is only `break` goes where the clause does.
    if (orelse.size() == 1 && is<Break>(orelse[0]) && body.size() > 1 && is<Break>(body.back())) body.pop_back();
  }
  Place step = place;
  step.next = next;
  if (is_finally) {
    step.next = -2;
    for (auto [scope, end] : finally_ends_)
      if (scope == handler_scope) step.next = end, claimed_[end] = 1;
  }
  step.region = handler_scope;
  go_into(info.b, step, handler);
  if (body.empty()) body.push_back(make(Pass{}, info));
  if (is_finally) {
    handler = without_exception(handler);
    if (handler.empty()) handler.push_back(make(Pass{}, info));
    out.push_back(make(Try{block(body), {}, {}, block(handler), false}, info));
  } else {
    std::vector<ExceptHandler> clauses = handlers(handler);
    out.push_back(make(Try{block(body), context_.arena.copy(clauses), block(orelse), {}, kind.is_star}, info));
  }
  if (goes_on >= 0) return go(goes_on, place, out, true);
  return place_all(after, place, out);
}

// The offset of its first instruction; that of the node is the one it is known by.
std::uint32_t Structurer::start_of(int node) const {
  if (node >= int(cfg_.blocks.size())) return nodes_[node].offset;
  return cfg_.code[cfg_.blocks[node].begin].offset;
}

// 3.8: the end of the handlers in `scope`, which raises again and leads on all the same; -1: none.
int Structurer::dead_end_of(int scope) const {
  if (dead_ends_.empty() || scope < 0) return -1;
  for (int node : regions_.of(scope))
    if (nodes_[node].region == scope && nodes_[node].end == Node::End::stop && nodes_[node].a >= 0) return node;
  return -1;
}

// Does some way through the handlers go on after the statement, to a place that is no node of its own?
bool Structurer::handler_falls(int handler, int scope, const Place& place) const {
  for (int node : scope >= 0 ? regions_.of(scope) : std::span<const int>(graph_.sequence())) {
    if (!graph_.dominates(handler, node)) continue;
    for (int next : graph_.successors(node))
      if (next == place.next && next >= 0) return true;
  }
  return false;
}

void Structurer::go_into(int node, const Place& place, Statements& out) {
  if (node == place.next) return;
  if (emitted_[node]) fail("a block in two places", node);
  emit(node, place, out);
}

int Structurer::with(int setup, const Place& place, Statements& out) {
  const Node& info = nodes_[setup];
  int region = info.index, follow = info.b;
  std::vector<int> after;
  bool own = follow >= 0 && follow != place.next && follow != place.cont && follow != place.brk;
  bool tail = own && (claimed_[follow] || !cfg_.inside(nodes_[follow].region, place.region));
  if (tail && !trivial_tail(follow)) fail("a with statement that ends elsewhere", setup);
  if (own && !tail) claimed_[follow] = 1, after.push_back(follow);
  for (int node : merges(setup, place)) claimed_[node] = 1, after.push_back(node);
  std::vector<int> exits;
  for (int node : exits_of(region, info.a))
    if (node != place.next && node != place.cont && node != place.brk) exits.push_back(node);
  if (!exits.empty()) fail("a with statement with several ends", setup);
  Place inner = place;
  inner.region = region;
  inner.next = follow;
  if (follow == place.cont && follow != place.next) inner.next = follow;
  Statements body;
  go_into(info.a, inner, body);
  if (body.empty()) body.push_back(make(Pass{}, info));
  WithItem item{info.value, info.target};
  out.push_back(make(With{context_.list({item}), block(body), info.is_async}, info));
  if (after.empty()) return follow >= 0 && follow != place.next ? go(follow, place, out, true) : -1;
  return place_all(after, place, out);
}

Block structure(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return) {
  if (is_one_node(lifted)) {
    const Node& node = lifted.nodes[0];
    std::vector<Stmt*> statements = node.statements;
    if (node.end == Node::End::leave)
      statements.push_back(context.stmt(Return{node.value}, node.offset, node.line, node.column, node.width));
    return clean(context, context.arena.copy(statements));
  }
  return Structurer(context, lifted, cfg, may_return).run();
}

}  // namespace depyf
