// Branches on the patterns of one subject to a match statement:
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

// Returns the subject of a match statement, which was given a name just before: that assignment is taken out of `statements`.
Expr* take_subject(Context& context, std::string_view name, std::vector<Stmt*>& statements) {
  auto* assign = statements.empty() ? nullptr : as<Assign>(statements.back());
  auto* target = assign && assign->targets.size() == 1 ? as<Name>(assign->targets[0]) : nullptr;
  if (!target || target->id != name) return context.name(name);
  Expr* subject = assign->value;
  statements.pop_back();
  return subject;
}

// The branch on the guard of the case that `test` tests, -1: there is none.
int guard_of(const Context& context, const Outline& outline, int test) {
  const Node& info = outline.nodes[test];
  const CaseTest& wanted = context.cases[as<Internal>(info.value)->index];
  if (wanted.keeps && !wanted.guard) return -1;
  const Node& guard = outline.nodes[info.a];
  bool fits = info.a != info.b && guard.end == Node::End::branch && guard.statements.empty() &&
              !outline.is_case(info.a) && outline.preds(info.a).size() == 1 && !outline.is_header(info.a) &&
              guard.a != guard.b;
  // The last case is left where its guard fails; where it always matches, only the line tells the guard from an `if`.
  bool shared = fits && (guard.a == info.b || guard.b == info.b);
  if (wanted.keeps) return shared ? info.a : -1;
  bool one_line = wanted.line >= 0 && guard.line == wanted.line;
  return fits && one_line && (shared || info.b < 0) ? info.a : -1;
}

}  // namespace

int Structurer::match(int first, const Place& place, Statements& out) {
  struct Arm {
    int test, guard;
    Statements body;
  };
  auto subject_of = [&](int node) { return as<Name>(as<Internal>(nodes_[node].value)->value)->id; };
  auto test_of = [&](int node) -> const CaseTest& { return context_.cases[as<Internal>(nodes_[node].value)->index]; };
  const std::string_view subject = subject_of(first);
  std::vector<Arm> arms;
  std::set<int> own;        // they decide which arm runs
  int rest = first;                      // where no pattern matches
  do {
    arms.push_back({rest, guard_of(context_, outline_, rest), {}});
    own.insert(rest);
    if (arms.back().guard >= 0) own.insert(arms.back().guard);
    rest = nodes_[rest].b;
  } while (test_of(arms.back().test).keeps && outline_.is_case(rest) && !own.contains(rest) &&
           nodes_[rest].statements.empty() && subject_of(rest) == subject);
  if (test_of(arms.back().test).keeps) fail("a match statement without its last case", first);
  auto only_failures = [&](int node) {
    return std::all_of(outline_.preds(node).begin(), outline_.preds(node).end(),
                       [&](int pred) { return own.contains(pred); });
  };
  // Where control goes from a guard, or a test without one. The last case may match always: then its body stands first.
  auto failure_of = [&](int guard, int next) {
    const Node& branch = nodes_[guard];
    if (next >= 0) return next;
    return nodes_[branch.b].offset < nodes_[branch.a].offset ? branch.a : branch.b;
  };
  auto body_of = [&](int test, int guard) {
    if (guard < 0) return nodes_[test].a;
    return nodes_[guard].a == failure_of(guard, nodes_[test].b) ? nodes_[guard].b : nodes_[guard].a;
  };
  for (const Arm& arm : arms) {
    if (arm.test != first && (!only_failures(arm.test) || claims_.claimed[arm.test] || claims_.emitted[arm.test]))
      fail("a case in two places", arm.test);
    bool guarded = test_of(arm.test).guard && nodes_[arm.test].a != nodes_[arm.test].b;
    if (guarded && arm.guard < 0) fail("a guard of several statements", arm.test);
  }
  for (const Arm& arm : arms) {
    claims_.emitted[arm.test] = claims_.claimed[arm.test] = 1;
    if (arm.guard >= 0) claims_.emitted[arm.guard] = claims_.claimed[arm.guard] = 1;
  }
  // What stands after the statement.
  if (rest < 0 && arms.back().guard >= 0) rest = failure_of(arms.back().guard, -1);
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
    if (wanted.guard && test.a == test.b) {
      guard = context_.constant(Constant::Kind::false_);
    } else {
      go(body, inner, arm.body, false);
    }
    all_leave = all_leave && leaves(arm.body);
    if (arm.body.empty()) arm.body.push_back(make(Pass{}, test));
    cases.push_back({wanted.pattern, guard, block(arm.body)});
  }
  // `case _:` where the other cases go on, or where the compiler left its NOP.
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
