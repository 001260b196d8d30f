// Writes a loop: a node to which control comes back, and the nodes on the ways back.
//
//     FOR_ITER, or a test of which only one way leads into the loop       for x in v: ...    while c: ...
//     any other node                                                      while True: ...
//
// The else clause starts where the exhausted iterator or the failed test leads, unless `break` leads there too.
#include <algorithm>

#include "dialect/dialect.h"
#include "structure/loop_ends.h"
#include "structure/structurer.h"
#include "support/table.h"

namespace depyf {
using namespace ast;

namespace {

// True if `exit`, which lies outside of the loop, stands between the lines of the loop. Then the test at the header is
// not the test of a while loop. The code that an assert raises stands on the line of its test.
bool stands_within(const Outline& outline, NodeIndex header, NodeIndex exit) {
  if (exit < 0 || outline.forward_preds(exit) > 1) return false;
  const bool may_assert =
      outline.nodes[exit].end == Node::End::stop && outline.nodes[exit].line == outline.nodes[header].line;
  if (outline.nodes[exit].line <= outline.nodes[header].line && !may_assert) return false;
  return std::ranges::any_of(outline.members(header),
                             [&](NodeIndex node) { return outline.nodes[node].line > outline.nodes[exit].line; });
}

// True if `while not test` compiles to the same test. Before 3.14, `not a in b` becomes `a not in b`.
bool keeps_test_negated(const Context& context, const Expr* test) {
  return !negation_changes(context, test) || dialect_of(context.version).negation_turns_jumps;
}

}  // namespace

// Writes the loop at `header`, and returns the node behind it that is left to the caller.
NodeIndex Structurer::loop(NodeIndex header, const Place& place, Statements& out) {
  const Node& info = nodes_[header];
  bool back = outline_.is_header(header);
  bool is_for = info.end == Node::End::loop;
  // The jump back of `while c: pass` is on its own line, and not turned around as that of `while True: if not c: break` is.
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
  bool has_else = exhausted >= 0 && follow != exhausted;
  // A node behind the loop that only this loop leads to is placed right behind it.
  bool own_follow = is_placed_behind(follow, place);
  // Several loops may stand at the end of a with statement, and each goes on to the return behind it.
  if (own_follow && claims_.claimed[follow] && outline_.trivial_tail(follow)) own_follow = false;
  if (own_follow && claims_.claimed[follow]) fail("a loop that ends in two places", header);
  // Behind the loop stand the node to which `break` leads, and the nodes where ways from it and from the loop meet.
  Table<NodeIndex> after;
  if (own_follow) {
    claims_.claimed[follow] = 1;
    auto consider = [&](NodeIndex dominator) {
      for (NodeIndex node : outline_.merges_of(dominator)) {
        if (claims_.claimed[node] || (back && outline_.in_loop(node, header))) continue;
        if (outline_.order(node) < outline_.order(follow) || !cfg_.inside(nodes_[node].region, place.region)) continue;
        if (reaches(outline_, follow, node, place)) after.push_back(node);
      }
    };
    if (back)
      for (NodeIndex node : outline_.members(header)) consider(node);
    else consider(header);
    std::sort(after.begin(), after.end(), [&](int a, int b) { return outline_.order(a) < outline_.order(b); });
    for (NodeIndex node : after) claims_.claimed[node] = 1;
  }
  Place inner = place;
  inner.next = inner.cont = header, inner.brk = follow >= 0 ? follow : place.next,
  inner.loop = back ? header : place.loop;
  Statements body, orelse;
  // Without a test of its own, the header belongs to the body of `while True`.
  if (is_for || is_while) {
    if (back) claims_.emitted[header] = 1;
    // A for loop whose body never comes back: the body may not fall through to the header.
    else inner.next = -2;
    if (body_at != header) go(body_at, inner, body, false);
  } else {
    emit(header, inner, body);
  }
  if (has_else) {
    Place step = place;
    step.next = follow;
    // The clause cannot fall through to a node that only a jump reaches.
    if (place.jumps_to(follow) && follow != place.next) step.next = -2;
    go(exhausted, step, orelse, false);
    if (follow == place.cont && follow != place.next && !leaves(orelse)) orelse.push_back(make(Continue{}, info));
  }
  // The last statement of the body falls through to the header.
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
  // A return may stand outside of the region, because it can be copied.
  if (cfg_.inside(nodes_[node].region, place.region)) return node;
  if (!outline_.trivial_tail(node)) fail("a loop ends outside its statement", node);
  out.push_back(make(Return{nodes_[node].value}, nodes_[node]));
  return -1;
}

}  // namespace depyf
