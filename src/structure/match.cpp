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
#include "support/table.h"

namespace depyf {
using namespace ast;

namespace {

// Returns the subject of a match statement, which lifting assigned to `name` right in front of the statement, and
// removes this assignment from `statements`.
Expr* take_subject(Context& context, std::string_view name, Table<Stmt*>& statements) {
  auto* assign = statements.empty() ? nullptr : as<Assign>(statements.back());
  auto* target = assign && assign->targets.size() == 1 ? as<Name>(assign->targets[0]) : nullptr;
  if (!target || target->id != name) return context.name(name);
  Expr* subject = assign->value;
  statements.pop_back();
  return subject;
}

// Returns the branch on the guard of the case that `test` tests, or -1 if it has no guard.
NodeIndex guard_of(const Context& context, const Outline& outline, NodeIndex test) {
  const Node& info = outline.nodes[test];
  const CaseTest& wanted = context.cases[as<Internal>(info.value)->index];
  if (wanted.keeps && !wanted.guard) return -1;
  const Node& guard = outline.nodes[info.a];
  // A guard is a branch without statements, to which only the test of the pattern leads.
  bool fits = info.a != info.b && guard.end == Node::End::branch && guard.statements.empty() &&
              !outline.is_case(info.a) && outline.preds(info.a).size() == 1 && !outline.is_header(info.a) &&
              guard.a != guard.b;
  // A failed guard leads to the same node as a pattern that does not match. For a last case that always matches, only
  // the line distinguishes a guard from an `if` in the body.
  bool shared = fits && (guard.a == info.b || guard.b == info.b);
  if (wanted.keeps) return shared ? info.a : NodeIndex();
  bool one_line = wanted.line >= 0 && guard.line == wanted.line;
  return fits && one_line && (shared || info.b < 0) ? info.a : NodeIndex();
}

// The cases of one match statement.
class Cases {
 public:
  // The node that tests the pattern, and the node that branches on the guard, or -1 if there is no guard.
  struct Case {
    NodeIndex test, guard;
  };

  // Collects the cases from the test `first` on: the failure edge of each test leads to the next test, as long as both
  // have the same subject and the test keeps the subject on the stack for another case.
  Cases(const Context& context, const Outline& outline, NodeIndex first)
      : context_(context), outline_(outline), rest_(first) {
    do {
      cases_.push_back({rest_, guard_of(context, outline, rest_)});
      own_.insert(rest_);
      if (cases_.back().guard >= 0) own_.insert(cases_.back().guard);
      rest_ = outline.nodes[rest_].b;
    } while (lacks_last_case() && outline.is_case(rest_) && !own_.contains(rest_) &&
             outline.nodes[rest_].statements.empty() && subject_of(rest_) == subject_of(first));
    if (rest_ < 0 && cases_.back().guard >= 0) rest_ = failure_of(cases_.back().guard, -1);
  }

  const Table<Case>& all() const { return cases_; }
  // Returns the nodes of all tests and guards of the match statement.
  const std::set<NodeIndex>& own() const { return own_; }
  // Returns the node to which control goes if no pattern matches; -1 if there is none.
  NodeIndex rest() const { return rest_; }
  // True if another case has to follow, because the last test keeps the subject on the stack.
  bool lacks_last_case() const { return test_of(cases_.back()).keeps; }

  std::string_view subject() const { return subject_of(cases_.front().test); }
  const CaseTest& test_of(const Case& one_case) const {
    return context_.cases[as<Internal>(outline_.nodes[one_case.test].value)->index];
  }
  // Returns the first node of the body of a case.
  NodeIndex body_of(const Case& one_case) const {
    const Node& test = outline_.nodes[one_case.test];
    if (one_case.guard < 0) return test.a;
    const Node& guard = outline_.nodes[one_case.guard];
    return guard.a == failure_of(one_case.guard, test.b) ? guard.b : guard.a;
  }
  // True if only tests and guards of this match statement lead to the node.
  bool only_failures_lead_to(NodeIndex node) const {
    return std::ranges::all_of(outline_.preds(node), [&](NodeIndex pred) { return own_.contains(pred); });
  }

 private:
  std::string_view subject_of(NodeIndex test) const {
    return as<Name>(as<Internal>(outline_.nodes[test].value)->value)->id;
  }
  // Returns the node to which a guard leads if it fails. `next` is the next test, or -1 if the case is the last and
  // always matches; without a next test, the successor that comes first in the code is taken for the body.
  NodeIndex failure_of(NodeIndex guard, NodeIndex next) const {
    const Node& branch = outline_.nodes[guard];
    if (next >= 0) return next;
    return outline_.nodes[branch.b].offset < outline_.nodes[branch.a].offset ? branch.a : branch.b;
  }

  const Context& context_;
  const Outline& outline_;
  Table<Case> cases_;
  std::set<NodeIndex> own_;
  NodeIndex rest_;
};

}  // namespace

// Writes the match statement whose first case is tested by `first`.
NodeIndex Structurer::match(NodeIndex first, const Place& place, Statements& out) {
  const Cases all_cases(context_, outline_, first);
  const NodeIndex rest = all_cases.rest();
  if (all_cases.lacks_last_case()) fail("a match statement without its last case", first);
  for (const Cases::Case& one_case : all_cases.all()) {
    const NodeIndex test = one_case.test;
    if (test != first && (!all_cases.only_failures_lead_to(test) || claims_.claimed[test] || claims_.emitted[test]))
      fail("a case in two places", test);
    // Python has no syntax for a guard that contains statements.
    const bool has_guard = all_cases.test_of(one_case).guard && nodes_[test].a != nodes_[test].b;
    if (has_guard && one_case.guard < 0) fail("a guard of several statements", test);
  }
  for (const NodeIndex node : all_cases.own()) claims_.emitted[node] = claims_.claimed[node] = 1;
  // If the body of a case is empty, it leads directly to `rest`, which is then the code behind the statement and no
  // `case _`.
  const bool empty_arm = std::ranges::any_of(
      all_cases.all(), [&](const Cases::Case& one_case) { return all_cases.body_of(one_case) == rest; });
  const bool own_rest = rest >= 0 && !place.leads_to(rest) && !claims_.claimed[rest] && !empty_arm &&
                        all_cases.only_failures_lead_to(rest);
  Table<NodeIndex> after;
  for (NodeIndex test : all_cases.own())
    for (NodeIndex node : outline_.merges_of(test))
      if (!claims_.claimed[node] && cfg_.inside(nodes_[node].region, place.region) && !(own_rest && node == rest))
        after.push_back(node);
  std::sort(after.begin(), after.end(), [&](int a, int b) { return outline_.order(a) < outline_.order(b); });
  for (NodeIndex node : after) claims_.claimed[node] = 1;
  if (own_rest) claims_.claimed[rest] = 1;
  Place inner = place;
  if (!after.empty()) inner.next = after[0];
  Table<MatchCase> cases;
  bool all_leave = true;
  for (const Cases::Case& one_case : all_cases.all()) {
    const Node& test = nodes_[one_case.test];
    const CaseTest& wanted = all_cases.test_of(one_case);
    Expr* guard = nullptr;
    Statements statements;
    const NodeIndex body = all_cases.body_of(one_case);
    if (one_case.guard >= 0) {
      const Node& branch = nodes_[one_case.guard];
      guard = branch.a == body ? branch.value : negate(context_, branch.value);
    }
    // If a case has a guard, but both edges of its test lead to the same node, the guard was always false, and the
    // compiler has removed the body.
    if (wanted.guard && test.a == test.b) {
      guard = context_.constant(Constant::Kind::false_);
    } else {
      go(body, inner, statements, false);
    }
    all_leave = all_leave && leaves(statements);
    if (statements.empty()) statements.push_back(make(Pass{}, test));
    cases.push_back({wanted.pattern, guard, block(statements)});
  }
  // The code at `rest` becomes `case _:` if another case goes on behind the statement, or if the code starts with a
  // NOP, which the compiler emits for `case _:`; otherwise, the code follows the statement.
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
  Expr* value = take_subject(context_, all_cases.subject(), out);
  out.push_back(make(Match{value, context_.arena.copy(cases)}, nodes_[first]));
  if (follows) return rest;
  return place_all(after, place, out);
}

}  // namespace depyf
