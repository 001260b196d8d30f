// Writes a loop: the header, to which back edges lead, and the nodes on the paths back to the header.
//
//   If the header ends in FOR_ITER, the loop is a for loop.
//   If the header is a test of which only one edge leads into the loop, the loop is `while c`.
//   If the header neither ends in FOR_ITER nor is a test with exactly one edge into the loop, the loop is `while True`.
//
// The else clause starts at the node to which the exhausted iterator or the failed test leads. The loop has no else
// clause if `break` leads to the node to which the exhausted iterator or the failed test leads.
#include <algorithm>

#include "dialect/dialect.h"
#include "structure/loop_ends.h"
#include "structure/structurer.h"
#include "support/table.h"

namespace depyf {
using namespace ast;

namespace {

// True if `exit`, which lies outside of the loop, has a line between the lines of the loop, so that the test at the
// header is not the test of a while loop. The raise of an `assert` has the line of the test of the `assert`, so a raise
// on the line of the header is treated like a node on a later line.
bool stands_within(const Outline& outline, NodeIndex header, NodeIndex exit) {
  if (exit < 0 || outline.forward_preds(exit) > 1) return false;
  const bool may_assert =
      outline.nodes[exit].end == Node::End::stop && outline.nodes[exit].line == outline.nodes[header].line;
  if (outline.nodes[exit].line <= outline.nodes[header].line && !may_assert) return false;
  return std::ranges::any_of(outline.members(header),
                             [&](NodeIndex node) { return outline.nodes[node].line > outline.nodes[exit].line; });
}

// True if a node in the body of the loop at `header` leads to `exhausted`. The body of a while loop can lead to the code
// behind the loop, but not to its else clause.
bool body_leads_to(const Outline& outline, NodeIndex header, NodeIndex exhausted) {
  return !outline.trivial_tail(exhausted) && std::ranges::any_of(outline.preds(exhausted), [&](NodeIndex pred) {
    return pred != header && outline.in_loop(pred, header);
  });
}

// True if `while not test` compiles to the same operations as `while test`, with the opposite jump. Before 3.14, `not a
// in b` compiles to another operation than `a in b`, namely to that of `a not in b`.
bool keeps_test_negated(const Context& context, const Expr* test) {
  return !negation_changes(context, test) || dialect_of(context.version).negation_turns_jumps;
}

}  // namespace

// Writes the loop at `header`, and returns the node behind the loop that the caller has to write; -1 if the caller has
// to write none.
NodeIndex Structurer::loop(NodeIndex header, const Place& place, Statements& out) {
  const Node& info = nodes_[header];
  bool back = outline_.is_header(header);
  bool is_for = info.end == Node::End::loop;
  // A test that jumps back to itself is `while c: pass` if the compiler did not invert it, and `while True: if not c:
  // break` if it did.
  bool is_while = back && !is_for && info.end == Node::End::branch && info.statements.empty() &&
                  outline_.in_loop(info.a, header) != outline_.in_loop(info.b, header) && info.a != info.b &&
                  !(info.turned == Turned::yes && (info.a == header || info.b == header)) &&
                  (outline_.in_loop(info.a, header) || keeps_test_negated(context_, info.value)) &&
                  !stands_within(outline_, header, outline_.in_loop(info.a, header) ? info.b : info.a);
  NodeIndex body_at = -1, exhausted = -1;
  Expr* test = nullptr;
  if (is_for) {
    body_at = info.a, exhausted = info.b;
  } else if (is_while) {
    bool straight = outline_.in_loop(info.a, header);
    body_at = straight ? info.a : info.b, exhausted = straight ? info.b : info.a;
    test = straight ? info.value : negate(context_, info.value);
  }
  NodeIndex follow = back ? after_loop(outline_, claims_, header, exhausted, place)
                          : after_single_pass(outline_, header, body_at, exhausted, place);
  if (is_while && follow != exhausted && body_leads_to(outline_, header, exhausted)) {
    is_while = false, exhausted = -1, test = nullptr;
    follow = after_loop(outline_, claims_, header, exhausted, place);
  }
  bool has_else = exhausted >= 0 && follow != exhausted;
  // `follow`, the node to which a `break` of this loop leads, is placed right behind the loop, unless control gets from
  // the end of the loop to `follow` anyway: without a statement, or by a `continue` or `break` of an enclosing loop.
  bool own_follow = is_placed_behind(follow, place);
  // Several loops at the end of a with statement may go on to the same return behind the statement; the return is
  // copied then.
  if (own_follow && claims_[follow].claimed && outline_.trivial_tail(follow)) own_follow = false;
  if (own_follow && claims_[follow].claimed) fail("a loop that ends in two places", header);
  // Behind the loop come the node `follow`, to which `break` leads, and the nodes where paths from `follow` and from
  // the loop meet.
  Table<NodeIndex> after;
  if (own_follow) {
    claims_[follow].claimed = true;
    auto consider = [&](NodeIndex dominator) {
      for (NodeIndex node : outline_.merges_of(dominator)) {
        if (claims_[node].claimed || (back && outline_.in_loop(node, header))) continue;
        if (outline_.order(node) < outline_.order(follow) || !cfg_.inside(nodes_[node].region, place.region)) continue;
        if (reaches(outline_, follow, node, place)) after.push_back(node);
      }
    };
    if (back)
      for (NodeIndex node : outline_.members(header)) consider(node);
    else consider(header);
    std::sort(after.begin(), after.end(), [&](int a, int b) { return outline_.order(a) < outline_.order(b); });
    for (NodeIndex node : after) claims_[node].claimed = true;
  }
  Place inner = place;
  inner.next = inner.cont = header, inner.brk = follow >= 0 ? follow : place.next,
  inner.loop = back ? header : place.loop;
  Statements body, orelse;
  // A header without a loop test belongs to the body of `while True`.
  if (is_for || is_while) {
    if (back) claims_[header].emitted = true;
    // If no path through the body of a for loop leads back to the header, the end of the body must not count as a way
    // back to the header.
    else inner.next = -2;
    if (body_at != header) go(body_at, inner, body, false);
  } else {
    emit(header, inner, body);
  }
  if (has_else) {
    Place step = place;
    step.next = follow;
    // If control gets to `follow` only by a `continue` or `break` of the enclosing loop, the end of the else clause
    // must not fall through to `follow`. In this case `step.next` is -2, which is the index of no node.
    if (place.jumps_to(follow) && follow != place.next) step.next = -2;
    go(exhausted, step, orelse, false);
    if (follow == place.cont && follow != place.next && !leaves(orelse)) orelse.push_back(make(Continue{}, info));
  }
  // A `continue` at the end of the body is left out, because the body falls through to the header.
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
  if (!own_follow) return follow == place.next ? NodeIndex() : go(follow, place, out, true);
  after.insert(after.begin(), follow);
  NodeIndex node = place_all(after, place, out);
  // A return may lie outside of the region of the loop, because it can be copied.
  if (cfg_.inside(nodes_[node].region, place.region)) return node;
  if (!outline_.trivial_tail(node)) fail("a loop ends outside its statement", node);
  out.push_back(make(Return{nodes_[node].value}, nodes_[node]));
  return -1;
}

}  // namespace depyf
