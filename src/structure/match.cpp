// Turns branches on patterns of one subject into a match statement. Lifting assigns the subject to a temporary T. For
// example, the branches `if T matches p: a`, `elif T matches q: b` and `else: c` become `case p: a`, `case q: b` and
// `case _: c`. If a test of g follows the test of p, and leads to the test of q when g is false, the case of p becomes
// `case p if g: a`.
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

// Returns the node that branches on the guard of the case that `test` tests; -1 if the case has no guard.
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
  // The node that tests the pattern, and the node that branches on the guard; `guard` is -1 if the case has no guard.
  struct Case {
    NodeIndex test, guard;
  };

  // Collects the cases from the test `first` on, along the edges that tests take if they fail. The match statement has
  // another case if the failed test keeps the subject on the stack and leads to a test of the same subject.
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
  // Returns the node to which control goes if no pattern matches; -1 if the last case always matches.
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
  // True if only tests and guards of the match statement lead to the node.
  bool only_failures_lead_to(NodeIndex node) const {
    return std::ranges::all_of(outline_.preds(node), [&](NodeIndex pred) { return own_.contains(pred); });
  }

 private:
  std::string_view subject_of(NodeIndex test) const {
    return as<Name>(as<Internal>(outline_.nodes[test].value)->value)->id;
  }
  // Returns the node to which a guard leads if it fails. `next` is the next test; -1 if the case is the last case and
  // always matches. If `next` is -1, that successor of the guard which comes first in the code is assumed to be the
  // body of the case.
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
    if (test != first && (!all_cases.only_failures_lead_to(test) || claims_[test].claimed || claims_[test].emitted))
      fail("a case in two places", test);
    // Python has no syntax for a guard that contains statements.
    const bool has_guard = all_cases.test_of(one_case).guard && nodes_[test].a != nodes_[test].b;
    if (has_guard && one_case.guard < 0) fail("a guard of several statements", test);
  }
  for (const NodeIndex node : all_cases.own()) claims_[node].emitted = claims_[node].claimed = true;
  // `rest` is the node to which control goes if no pattern matches. If a case with an empty body also leads to `rest`,
  // `rest` is the code behind the match statement, and not the body of a `case _`.
  const bool empty_arm = std::ranges::any_of(
      all_cases.all(), [&](const Cases::Case& one_case) { return all_cases.body_of(one_case) == rest; });
  const bool own_rest = rest >= 0 && !place.leads_to(rest) && !claims_[rest].claimed && !empty_arm &&
                        all_cases.only_failures_lead_to(rest);
  Table<NodeIndex> after;
  for (NodeIndex test : all_cases.own())
    for (NodeIndex node : outline_.merges_of(test))
      if (!claims_[node].claimed && cfg_.inside(nodes_[node].region, place.region) && !(own_rest && node == rest))
        after.push_back(node);
  std::sort(after.begin(), after.end(), [&](int a, int b) { return outline_.order(a) < outline_.order(b); });
  for (NodeIndex node : after) claims_[node].claimed = true;
  if (own_rest) claims_[rest].claimed = true;
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
    // compiler has removed the body of the case.
    if (wanted.guard && test.a == test.b) {
      guard = context_.constant(Constant::Kind::false_);
    } else {
      go(body, inner, statements, false);
    }
    all_leave = all_leave && leaves(statements);
    if (statements.empty()) statements.push_back(make(Pass{}, test));
    cases.push_back({wanted.pattern, guard, block(statements), wanted.line});
  }
  // The code at the node `rest` becomes the body of a `case _:` if another case goes on behind the match statement, or
  // if the code at `rest` starts with a NOP, which the compiler emits for `case _:`. If no case goes on behind the
  // match statement and the code at `rest` starts with no NOP, the code at `rest` is placed behind the match statement.
  bool hinted = false;
  if (rest >= 0 && rest < int(cfg_.blocks.size())) hinted = cfg_.code[cfg_.blocks[rest].begin].op == Op::nop_;
  const bool follows = own_rest && after.empty() && all_leave && !hinted;
  Statements otherwise;
  if (own_rest && !follows) {
    claims_[rest].claimed = false;
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
