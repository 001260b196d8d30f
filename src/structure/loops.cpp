// A node that control comes back to, and what lies on the ways back:
//
//     FOR_ITER, or a test that leads into the loop on one way only        for x in v: ...    while c: ...
//     anything else                                                       while True: ...
//
// The clause `else` is where the iterator's end or the test leads, unless `break` goes there too.
#include <algorithm>

#include "structure/structurer.h"

namespace depyf {
using namespace ast;

// True if `exit`, which is not in the loop, stands between its lines, so that the test of the loop does not lead to it. On the
// line of the test itself stands what an assert raises.
bool Structurer::stands_within(int header, int exit) const {
  if (exit < 0 || graph_.forward_preds(exit) > 1) return false;
  const bool may_assert = nodes_[exit].end == Node::End::stop && nodes_[exit].line == nodes_[header].line;
  if (nodes_[exit].line <= nodes_[header].line && !may_assert) return false;
  return std::ranges::any_of(graph_.members(header), [&](int node) { return nodes_[node].line > nodes_[exit].line; });
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
  int follow = back ? after_loop(header, exhausted, place) : after_single_pass(header, body_at, exhausted, place);
  bool has_else = exhausted >= 0 && follow != exhausted;
  bool own_follow = follow >= 0 && !place.leads_to(follow);
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
    else inner.next = -2;
    if (body_at != header) go(body_at, inner, body, false);
  } else {
    emit(header, inner, body);
  }
  if (has_else) {
    Place step = place;
    step.next = follow;
    if (place.jumps_to(follow)) step.next = -2;
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

}  // namespace depyf
