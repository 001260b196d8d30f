// Writes an if statement for a node with two successors, with the code on both paths until the paths meet.
//
//   `if c: a else: b` is written if both paths contain code.
//   `if c: a` is written if only the path to `a` contains code.
//   `if c: continue`, with the other path behind the statement, is written if one path goes to the loop's header.
//   `if not c: rest` has the same edges as `if c: continue` in front of `rest`.
#include <algorithm>

#include "dialect/dialect.h"
#include "structure/structurer.h"
#include "support/table.h"

namespace depyf {
using namespace ast;

namespace {

// True if the last statement is a try statement, or an `if` with a branch that ends in a try statement.
bool ends_in_try(std::span<Stmt* const> body) {
  if (body.empty()) return false;
  if (auto* branch = as<If>(body.back())) return ends_in_try(branch->body) || ends_in_try(branch->orelse);
  return is<Try>(body.back());
}

// True if an `if` needs an else clause, which starts at `second`, although control never reaches the end of the body.
// In 3.8, if the body of an `if` ends in a try statement that never completes, the END_FINALLY of the try statement
// has an edge to the code behind the else clause.
bool skips_else(const Outline& outline, NodeIndex first, NodeIndex second, const Table<Stmt*>& body) {
  if (outline.dead_ends().empty() || !ends_in_try(body)) return false;
  return std::ranges::any_of(outline.dead_ends(), [&](NodeIndex node) {
    return outline.order(node) >= 0 && outline.dominates(first, node) && outline.nodes[node].a != second &&
           outline.nodes[node].end_offset != outline.start_of(second) && outline.nodes[node].region >= 0 &&
           outline.cfg().inside(outline.nodes[first].region, outline.nodes[outline.nodes[node].a].region);
  });
}

}  // namespace

// True if `test` may be the test of an `if c: continue` statement. Returns false for a test in the first block of a
// loop if the test also leads to the target of `break`.
bool Structurer::is_behind_start(const Node& test, const Place& place) const {
  const std::uint32_t start = nodes_[place.cont].offset;
  return start < test.offset || (start == test.offset && test.a != place.brk && test.b != place.brk);
}

// In 3.8: true if a `continue` at `place` would leave a try or with statement. A `continue` that leaves a try or with
// statement compiles to instructions that the end of the loop's body does not have.
bool Structurer::is_continue_elsewhere(const Place& place) const {
  return dialect_of(context_.version).finally_subroutines && place.region != nodes_[place.cont].region;
}

// Writes an if statement.
NodeIndex Structurer::branch(NodeIndex node, const Place& place, Statements& out, bool tail) {
  const Node& info = nodes_[node];
  auto* internal = as<Internal>(info.value);
  bool handler = internal && (internal->marker == Marker::exc_match || internal->marker == Marker::eg_match);
  // If both edges lead to the same node, only the test has an effect.
  if (info.a == info.b) {
    out.push_back(make(If{info.value, block({make(Pass{}, info)}), {}}, info));
    return go(info.a, place, out, tail);
  }
  // If the compiler did not invert a conditional jump back to the header of the loop, the jump comes from the statement
  // `if c: continue`.
  if (!handler && info.turned == Turned::no && place.cont >= 0 && place.next == place.cont &&
      (info.a == place.cont || info.b == place.cont) && is_behind_start(info, place)) {
    const bool on_true = info.a == place.cont;
    if (on_true || !negation_changes(context_, info.value) || dialect_of(context_.version).negation_turns_jumps) {
      Expr* test = on_true ? info.value : negate(context_, info.value);
      out.push_back(make(If{test, block({make(Continue{}, info)}), {}}, info));
      return go(on_true ? info.b : info.a, place, out, tail);
    }
  }
  // The branch that comes first in the code becomes the body of the `if`.
  bool negated = !handler && info.b >= 0 && info.a >= 0 && nodes_[info.b].offset < nodes_[info.a].offset;
  if (!handler) {
    bool jump_a = info.a == place.next, jump_b = info.b == place.next;
    bool far_a = place.jumps_to(info.a), far_b = place.jumps_to(info.b);
    // A branch without code of its own becomes the else clause, which is left out.
    if (jump_a) negated = true;
    else if (jump_b) negated = false;
    // If only one branch is `continue` or `break`, this branch becomes the body of the `if`, and the other branch
    // follows the `if`.
    else if (far_a && !far_b) negated = false;
    else if (far_b && !far_a) negated = true;
  }
  // A negation of the test that compiles to another instruction is avoided; the branches are swapped instead.
  if (negated && negation_changes(context_, info.value)) negated = false;
  else if (!negated && !handler && as<UnaryExpr>(info.value) && as<UnaryExpr>(info.value)->op == UnaryOp::not_ &&
           negation_changes(context_, as<UnaryExpr>(info.value)->operand))
    negated = true;
  NodeIndex first = negated ? info.b : info.a, second = negated ? info.a : info.b;
  Expr* test = negated ? negate(context_, info.value) : info.value;
  Statements body, orelse;
  // If control never reaches the end of the body of the `if`, the other branch follows the `if` and needs no else
  // clause.
  go(first, place, body, false);
  if (!handler && !body.empty() && leaves(body) && !skips_else(outline_, first, second, body)) {
    out.push_back(make(If{test, block(body), {}}, info));
    return go(second, place, out, tail);
  }
  go(second, place, orelse, false);
  // At the end of a loop's body, the compiler emits a separate jump back to the header for an else clause that does
  // nothing: `else: pass` or `else: continue`.
  if (orelse.empty() && !body.empty() && !handler && second == place.next && second == place.cont) {
    if (info.turned == Turned::to_pass) orelse.push_back(context_.stmt(Pass{}));
    if (info.turned == Turned::to_continue) orelse.push_back(context_.stmt(Continue{}));
  }
  if (body.empty() && !orelse.empty() && !handler) {
    // True if `test` is an `and` or `or` that the compiler did not invert, and its negation contains more `not`
    // operators than `test`. A test that the compiler inverted does not come from `if c: continue`.
    bool wrapped = info.turned != Turned::yes && as<BoolOp>(test) &&
                   negation_cost(context_, test) > negation_cost(context_, negate(context_, test));
    if (!negation_changes(context_, test) && !(wrapped && place.next == place.cont && place.cont >= 0)) {
      test = negate(context_, test);
      std::swap(body, orelse);
    } else if (place.next == place.cont && place.cont >= 0 && !is_continue_elsewhere(place)) {
      // At the end of a loop's body, the empty branch becomes `continue`, and the other branch follows without an else
      // clause.
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
