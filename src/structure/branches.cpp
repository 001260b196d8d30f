// A node with two successors, and the code on both ways until they meet:
//
//     if c: a          if c: a             if c:               if not c:
//     else: b          rest                    continue            rest
//                                          rest
#include <algorithm>

#include "dialect/dialect.h"
#include "structure/structurer.h"
#include "support/table.h"

namespace depyf {
using namespace ast;

namespace {

// True if the last statement is a try statement, or an `if` with a branch of which that is true.
bool ends_in_try(std::span<Stmt* const> body) {
  if (body.empty()) return false;
  if (auto* branch = as<If>(body.back())) return ends_in_try(branch->body) || ends_in_try(branch->orelse);
  return is<Try>(body.back());
}

// True if the code behind the body of an `if` is not the other branch, which starts at `second`, but lies behind an
// else clause. In 3.8, this happens if the body ends in a try statement that never goes on.
bool skips_else(const Outline& outline, NodeIndex first, NodeIndex second, const Table<Stmt*>& body) {
  if (outline.dead_ends().empty() || !ends_in_try(body)) return false;
  return std::ranges::any_of(outline.dead_ends(), [&](NodeIndex node) {
    return outline.order(node) >= 0 && outline.dominates(first, node) && outline.nodes[node].a != second &&
           outline.nodes[node].end_offset != outline.start_of(second) && outline.nodes[node].region >= 0 &&
           outline.cfg().inside(outline.nodes[first].region, outline.nodes[outline.nodes[node].a].region);
  });
}

}  // namespace

// True if the test may be that of `if c: continue`. In the first block of a loop, a jump back may be a `break` instead,
// which goes on with the loop around this one.
bool Structurer::is_behind_start(const Node& test, const Place& place) const {
  const std::uint32_t start = nodes_[place.cont].offset;
  return start < test.offset || (start == test.offset && test.a != place.brk && test.b != place.brk);
}

// In 3.8: true if a `continue` at the place leaves a statement, which takes instructions that the end of a body does not have.
bool Structurer::is_continue_elsewhere(const Place& place) const {
  return dialect_of(context_.version).finally_subroutines && place.region != nodes_[place.cont].region;
}

// Writes an if statement.
NodeIndex Structurer::branch(NodeIndex node, const Place& place, Statements& out, bool tail) {
  const Node& info = nodes_[node];
  auto* internal = as<Internal>(info.value);
  bool handler = internal && (internal->marker == Marker::exc_match || internal->marker == Marker::eg_match);
  // Both ways lead to the same node, so only the test has an effect.
  if (info.a == info.b) {
    out.push_back(make(If{info.value, block({make(Pass{}, info)}), {}}, info));
    return go(info.a, place, out, tail);
  }
  // A jump back that the compiler did not turn around is a statement: `if c: continue`.
  if (!handler && info.turned == Turned::no && place.cont >= 0 && place.next == place.cont &&
      (info.a == place.cont || info.b == place.cont) && is_behind_start(info, place)) {
    const bool on_true = info.a == place.cont;
    if (on_true || !negation_changes(context_, info.value) || dialect_of(context_.version).negation_turns_jumps) {
      Expr* test = on_true ? info.value : negate(context_, info.value);
      out.push_back(make(If{test, block({make(Continue{}, info)}), {}}, info));
      return go(on_true ? info.b : info.a, place, out, tail);
    }
  }
  // The branch that stands first in the code is the body.
  bool negated = !handler && info.b >= 0 && info.a >= 0 && nodes_[info.b].offset < nodes_[info.a].offset;
  if (!handler) {
    bool jump_a = info.a == place.next, jump_b = info.b == place.next;
    bool far_a = place.jumps_to(info.a), far_b = place.jumps_to(info.b);
    // A branch that has no code of its own becomes the absent else.
    if (jump_a) negated = true;
    else if (jump_b) negated = false;
    // This is `if c: continue` in front of the rest.
    else if (far_a && !far_b) negated = false;
    else if (far_b && !far_a) negated = true;
  }
  // Negations that need another instruction are avoided: the test stays as it is for `if c: continue`, or the branches
  // change places.
  if (negated && negation_changes(context_, info.value)) negated = false;
  else if (!negated && !handler && as<UnaryExpr>(info.value) && as<UnaryExpr>(info.value)->op == UnaryOp::not_ &&
           negation_changes(context_, as<UnaryExpr>(info.value)->operand))
    negated = true;
  NodeIndex first = negated ? info.b : info.a, second = negated ? info.a : info.b;
  Expr* test = negated ? negate(context_, info.value) : info.value;
  Statements body, orelse;
  // If the body never reaches its end, the other branch follows the statement and needs no else.
  go(first, place, body, false);
  if (!handler && !body.empty() && leaves(body) && !skips_else(outline_, first, second, body)) {
    out.push_back(make(If{test, block(body), {}}, info));
    return go(second, place, out, tail);
  }
  go(second, place, orelse, false);
  // An else clause at the end of a loop's body that does nothing has a jump back of its own.
  if (orelse.empty() && !body.empty() && !handler && second == place.next && second == place.cont) {
    if (info.turned == Turned::to_pass) orelse.push_back(context_.stmt(Pass{}));
    if (info.turned == Turned::to_continue) orelse.push_back(context_.stmt(Continue{}));
  }
  if (body.empty() && !orelse.empty() && !handler) {
    // True if the test reads worse negated than as it is. A test that the compiler turned around is no `continue`.
    bool wrapped = info.turned != Turned::yes && as<BoolOp>(test) &&
                   negation_cost(context_, test) > negation_cost(context_, negate(context_, test));
    if (!negation_changes(context_, test) && !(wrapped && place.next == place.cont && place.cont >= 0)) {
      test = negate(context_, test);
      std::swap(body, orelse);
    } else if (place.next == place.cont && place.cont >= 0 && !is_continue_elsewhere(place)) {
      // At the end of a loop's body, the way on is `continue`, and the rest needs no else.
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

}  // namespace depyf
