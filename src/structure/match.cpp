// Turns branches on patterns of one subject into a match statement:
//
//     T = <subject>                        match <subject>:
//     C: if T matches p: [if g:] a             case p [if g]: a
//     N: else (or not g): if T matches q: b    case q: b
//     D: else: c                               case _: c
#include <algorithm>
#include <set>

#include "decode/op.h"
#include "structure/structurer.h"

namespace depyf {
using namespace ast;

namespace {

// Returns the subject of a match statement. Lifting gave it a name right in front, and this assignment is removed from
// `statements`.
Expr* take_subject(Context& context, std::string_view name, std::vector<Stmt*>& statements) {
  auto* assign = statements.empty() ? nullptr : as<Assign>(statements.back());
  auto* target = assign && assign->targets.size() == 1 ? as<Name>(assign->targets[0]) : nullptr;
  if (!target || target->id != name) return context.name(name);
  Expr* subject = assign->value;
  statements.pop_back();
  return subject;
}

// Returns the branch on the guard of the case that `test` tests, or -1 if it has no guard.
int guard_of(const Context& context, const Outline& outline, int test) {
  const Node& info = outline.nodes[test];
  const CaseTest& wanted = context.cases[as<Internal>(info.value)->index];
  if (wanted.keeps && !wanted.guard) return -1;
  const Node& guard = outline.nodes[info.a];
  // A guard is a single test, which only the pattern leads to.
  bool fits = info.a != info.b && guard.end == Node::End::branch && guard.statements.empty() &&
              !outline.is_case(info.a) && outline.preds(info.a).size() == 1 && !outline.is_header(info.a) &&
              guard.a != guard.b;
  // If the guard fails, control goes where it goes if the pattern does not match. For a last case that always matches,
  // only the line tells a guard from an `if` in the body.
  bool shared = fits && (guard.a == info.b || guard.b == info.b);
  if (wanted.keeps) return shared ? info.a : -1;
  bool one_line = wanted.line >= 0 && guard.line == wanted.line;
  return fits && one_line && (shared || info.b < 0) ? info.a : -1;
}

}  // namespace

// Writes the match statement whose first case is tested by `first`.
int Structurer::match(int first, const Place& place, Statements& out) {
  struct Arm {
    int test, guard;
    Statements body;
  };
  auto subject_of = [&](int node) { return as<Name>(as<Internal>(nodes_[node].value)->value)->id; };
  auto test_of = [&](int node) -> const CaseTest& { return context_.cases[as<Internal>(nodes_[node].value)->index]; };
  const std::string_view subject = subject_of(first);
  std::vector<Arm> arms;
  // The tests and guards, which decide which arm runs.
  std::set<int> own;
  int rest = first;  // the node to go to if no pattern matches
  // Collect the cases: each test leads to the next, as long as the subject is the same and other cases follow.
  do {
    arms.push_back({rest, guard_of(context_, outline_, rest), {}});
    own.insert(rest);
    if (arms.back().guard >= 0) own.insert(arms.back().guard);
    rest = nodes_[rest].b;
  } while (test_of(arms.back().test).keeps && outline_.is_case(rest) && !own.contains(rest) &&
           nodes_[rest].statements.empty() && subject_of(rest) == subject);
  if (test_of(arms.back().test).keeps) fail("a match statement without its last case", first);
  // True if only tests and guards lead to the node.
  auto only_failures = [&](int node) {
    return std::all_of(outline_.preds(node).begin(), outline_.preds(node).end(),
                       [&](int pred) { return own.contains(pred); });
  };
  // Returns the node to which a guard leads if it fails, or a test without a guard. If the last case always matches,
  // the successor that stands first is its body.
  auto failure_of = [&](int guard, int next) {
    const Node& branch = nodes_[guard];
    if (next >= 0) return next;
    return nodes_[branch.b].offset < nodes_[branch.a].offset ? branch.a : branch.b;
  };
  // Returns the first node of the body of a case.
  auto body_of = [&](int test, int guard) {
    if (guard < 0) return nodes_[test].a;
    return nodes_[guard].a == failure_of(guard, nodes_[test].b) ? nodes_[guard].b : nodes_[guard].a;
  };
  for (const Arm& arm : arms) {
    if (arm.test != first && (!only_failures(arm.test) || claims_.claimed[arm.test] || claims_.emitted[arm.test]))
      fail("a case in two places", arm.test);
    // A guard with statements in it has no form in Python.
    bool guarded = test_of(arm.test).guard && nodes_[arm.test].a != nodes_[arm.test].b;
    if (guarded && arm.guard < 0) fail("a guard of several statements", arm.test);
  }
  for (const Arm& arm : arms) {
    claims_.emitted[arm.test] = claims_.claimed[arm.test] = 1;
    if (arm.guard >= 0) claims_.emitted[arm.guard] = claims_.claimed[arm.guard] = 1;
  }
  // Find the code behind the statement.
  if (rest < 0 && arms.back().guard >= 0) rest = failure_of(arms.back().guard, -1);
  // An empty body leads directly behind the statement, so the node is no `case _`.
  const bool empty_arm =
      std::any_of(arms.begin(), arms.end(), [&](const Arm& arm) { return body_of(arm.test, arm.guard) == rest; });
  const bool own_rest =
      rest >= 0 && !place.leads_to(rest) && !claims_.claimed[rest] && !empty_arm && only_failures(rest);
  std::vector<int> after;
  for (int test : own)
    for (int node : outline_.dominated(test))
      if (!claims_.claimed[node] && outline_.forward_preds(node) > 1 &&
          cfg_.inside(nodes_[node].region, place.region) && !(own_rest && node == rest))
        after.push_back(node);
  std::sort(after.begin(), after.end(), [&](int a, int b) { return outline_.order(a) < outline_.order(b); });
  for (int node : after) claims_.claimed[node] = 1;
  if (own_rest) claims_.claimed[rest] = 1;
  Place inner = place;
  if (!after.empty()) inner.next = after[0];
  std::vector<MatchCase> cases;
  bool all_leave = true;
  for (Arm& arm : arms) {
    const Node& test = nodes_[arm.test];
    const CaseTest& wanted = test_of(arm.test);
    Expr* guard = nullptr;
    const int body = body_of(arm.test, arm.guard);
    if (arm.guard >= 0) {
      const Node& branch = nodes_[arm.guard];
      guard = branch.a == body ? branch.value : negate(context_, branch.value);
    }
    // The compiler has folded a guard that is always false.
    if (wanted.guard && test.a == test.b) {
      guard = context_.constant(Constant::Kind::false_);
    } else {
      go(body, inner, arm.body, false);
    }
    all_leave = all_leave && leaves(arm.body);
    if (arm.body.empty()) arm.body.push_back(make(Pass{}, test));
    cases.push_back({wanted.pattern, guard, block(arm.body)});
  }
  // Write `case _:` if the other cases go on behind the statement, or if a NOP of the compiler stands there. Otherwise
  // the code follows the statement.
  bool hinted = false;
  if (rest >= 0 && rest < int(cfg_.blocks.size())) hinted = cfg_.code[cfg_.blocks[rest].begin].op == Op::nop_;
  const bool follows = own_rest && after.empty() && all_leave && !hinted;
  Statements otherwise;
  if (own_rest && !follows) {
    claims_.claimed[rest] = 0;
    place_node(rest, inner, otherwise);
  } else if (rest >= 0 && !own_rest) {
    go(rest, inner, otherwise, false);
  }
  if (!otherwise.empty()) {
    Pattern* any = context_.arena.make<Pattern>(Pattern{MatchAs{nullptr, {}}});
    cases.push_back({any, nullptr, block(otherwise)});
  }
  Expr* value = take_subject(context_, subject, out);
  out.push_back(make(Match{value, context_.arena.copy(cases)}, nodes_[first]));
  if (follows) return rest;
  return place_all(after, place, out);
}

}  // namespace depyf
