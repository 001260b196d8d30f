// Defines functions that walk over syntax trees.
#pragma once
#include <variant>

#include "ast/node.h"
#include "ast/overloaded.h"
#include "ast/stmt_kinds.h"
namespace depyf::ast {
// Calls `visitor` with the alternative that `node` contains. The compiler can inline the calls of `visitor` in
// `visit_kind`, unlike the calls that std::visit makes.
template <class Visitor, class... Kinds>
void visit_kind(std::variant<Kinds...>& node, Visitor&& visitor) {
  static_cast<void>(
      (... || (std::holds_alternative<Kinds>(node) && (visitor(unboxed(*std::get_if<Kinds>(&node))), true))));
}
template <class Visitor, class... Kinds>
void visit_kind(const std::variant<Kinds...>& node, Visitor&& visitor) {
  static_cast<void>(
      (... || (std::holds_alternative<Kinds>(node) && (visitor(unboxed(*std::get_if<Kinds>(&node))), true))));
}

template <class Visit>
void visit_slot(Expr*& slot, Visit& visit) {
  if (slot) visit(slot);
}

template <class Visit>
void visit_slots(List<Expr*> slots, Visit& visit) {
  for (Expr*& slot : slots) visit_slot(slot, visit);
}

template <class Visit>
void visit_slots(List<Keyword> keywords, Visit& visit) {
  for (Keyword& keyword : keywords) visit_slot(keyword.value, visit);
}

template <class Visit>
void visit_annotations(List<Arg> args, Visit& visit) {
  for (Arg& arg : args) visit_slot(arg.annotation, visit);
}

template <class Visit>
void visit_defaults(const Arguments* args, Visit& visit) {
  if (!args) return;
  visit_slots(args->defaults, visit);
  visit_slots(args->kw_defaults, visit);
}

// Visits the annotations in the order of CPython's compiler, which evaluates the annotations of plain parameters before
// those of positional-only parameters.
template <class Visit>
void visit_annotations(const Arguments* args, Visit& visit) {
  if (!args) return;
  auto* slots = const_cast<Arguments*>(args);
  visit_annotations(args->args, visit);
  visit_annotations(args->posonly, visit);
  visit_slot(slots->vararg.annotation, visit);
  visit_annotations(args->kwonly, visit);
  visit_slot(slots->kwarg.annotation, visit);
}

template <class Visit>
void visit_type_params(List<TypeParam> params, Visit& visit) {
  for (TypeParam& param : params) {
    visit_slot(param.bound, visit);
    visit_slot(param.default_value, visit);
  }
}

template <class Visit>
void visit_pattern(Pattern* pattern, Visit& visit) {
  if (!pattern) return;
  auto nested = [&](List<Pattern*> patterns) {
    for (Pattern* each : patterns) visit_pattern(each, visit);
  };
  visit_kind(pattern->node,
             Overloaded{
                 [&](MatchValue& n) { visit_slot(n.value, visit); },
                 [](MatchSingleton&) {},
                 [&](MatchSequence& n) { nested(n.patterns); },
                 [&](MatchMapping& n) { visit_slots(n.keys, visit), nested(n.patterns); },
                 [&](MatchClass& n) { visit_slot(n.cls, visit), nested(n.patterns), nested(n.kwd_patterns); },
                 [](MatchStar&) {},
                 [&](MatchAs& n) { visit_pattern(n.pattern, visit); },
                 [&](MatchOr& n) { nested(n.patterns); },
             });
}

// Returns a function that calls `visit` with each direct subexpression of a node, in the order of evaluation.
template <class Visit>
auto visitor_of_parts(Visit& visit) {
  return Overloaded{
      [](Name&) {},
      [](Verbatim&) {},
      [](ConstantExpr&) {},
      [&](Attribute& n) { visit_slot(n.value, visit); },
      [&](Subscript& n) { visit_slot(n.value, visit), visit_slot(n.slice, visit); },
      [&](Slice& n) { visit_slot(n.lower, visit), visit_slot(n.upper, visit), visit_slot(n.step, visit); },
      [&](Call& n) { visit_slot(n.func, visit), visit_slots(n.args, visit), visit_slots(n.keywords, visit); },
      [&](BinOp& n) { visit_slot(n.left, visit), visit_slot(n.right, visit); },
      [&](UnaryExpr& n) { visit_slot(n.operand, visit); },
      [&](BoolOp& n) { visit_slots(n.values, visit); },
      [&](Compare& n) { visit_slot(n.left, visit), visit_slots(n.comparators, visit); },
      [&](IfExp& n) { visit_slot(n.test, visit), visit_slot(n.body, visit), visit_slot(n.orelse, visit); },
      [&](Tuple& n) { visit_slots(n.elts, visit); },
      [&](ListExpr& n) { visit_slots(n.elts, visit); },
      [&](SetExpr& n) { visit_slots(n.elts, visit); },
      [&](Dict& n) {
        for (std::size_t i = 0; i < n.values.size(); ++i) {
          if (i < n.keys.size()) visit_slot(n.keys[i], visit);
          visit_slot(n.values[i], visit);
        }
      },
      [&](FormattedValue& n) { visit_slot(n.value, visit), visit_slot(n.format_spec, visit); },
      [&](JoinedStr& n) { visit_slots(n.values, visit); },
      [&](Interpolation& n) { visit_slot(n.value, visit), visit_slot(n.format_spec, visit); },
      [&](TemplateStr& n) { visit_slots(n.values, visit); },
      [&](Lambda& n) { visit_defaults(n.args, visit), visit_slot(n.body, visit); },
      [&](ComprehensionExpr& n) {
        for (Comprehension& each : n.generators) {
          visit_slot(each.iter, visit);
          visit_slot(each.target, visit);
          visit_slots(each.ifs, visit);
        }
        visit_slot(n.elt, visit);
        visit_slot(n.value, visit);
      },
      [&](Await& n) { visit_slot(n.value, visit); },
      [&](Yield& n) { visit_slot(n.value, visit); },
      [&](YieldFrom& n) { visit_slot(n.value, visit); },
      [&](NamedExpr& n) { visit_slot(n.value, visit), visit_slot(n.target, visit); },
      [&](Starred& n) { visit_slot(n.value, visit); },
      [&](Internal& n) { visit_slot(n.value, visit); },
  };
}

// Calls `visit` with each direct subexpression of `expr`, in the order of evaluation. The function `visit` may replace
// the subexpression.
template <class Visit>
void for_each_child(Expr* expr, Visit&& visit) {
  visit_kind(expr->node, visitor_of_parts(visit));
}

// Calls `visit` with each expression that belongs to `stmt` itself, in the order of evaluation. Expressions in nested
// blocks are not visited.
template <class Visit>
void for_each_expr(Stmt* stmt, Visit&& visit) {
  visit_kind(stmt->node, Overloaded{
                             [&](FunctionDef& n) {
                               visit_slots(n.decorators, visit);
                               visit_defaults(n.args, visit);
                               visit_type_params(n.type_params, visit);
                               visit_annotations(n.args, visit);
                               visit_slot(n.returns, visit);
                             },
                             [&](ClassDef& n) {
                               visit_slots(n.decorators, visit);
                               visit_type_params(n.type_params, visit);
                               visit_slots(n.bases, visit);
                               visit_slots(n.keywords, visit);
                             },
                             [&](Return& n) { visit_slot(n.value, visit); },
                             [&](Delete& n) { visit_slots(n.targets, visit); },
                             [&](Assign& n) { visit_slot(n.value, visit), visit_slots(n.targets, visit); },
                             [&](AugAssign& n) { visit_slot(n.target, visit), visit_slot(n.value, visit); },
                             [&](AnnAssign& n) {
                               visit_slot(n.value, visit), visit_slot(n.target, visit), visit_slot(n.annotation, visit);
                             },
                             [&](TypeAlias& n) { visit_type_params(n.type_params, visit), visit_slot(n.value, visit); },
                             [&](For& n) { visit_slot(n.iter, visit), visit_slot(n.target, visit); },
                             [&](While& n) { visit_slot(n.test, visit); },
                             [&](If& n) { visit_slot(n.test, visit); },
                             [&](With& n) {
                               for (WithItem& item : n.items)
                                 visit_slot(item.context_expr, visit), visit_slot(item.optional_vars, visit);
                             },
                             [&](Match& n) {
                               visit_slot(n.subject, visit);
                               for (MatchCase& each : n.cases)
                                 visit_pattern(each.pattern, visit), visit_slot(each.guard, visit);
                             },
                             [&](Raise& n) { visit_slot(n.exc, visit), visit_slot(n.cause, visit); },
                             [&](Try& n) {
                               for (ExceptHandler& handler : n.handlers) visit_slot(handler.type, visit);
                             },
                             [&](Assert& n) { visit_slot(n.test, visit), visit_slot(n.msg, visit); },
                             [](Import&) {},
                             [](ImportFrom&) {},
                             [](Global&) {},
                             [](Nonlocal&) {},
                             [&](ExprStmt& n) { visit_slot(n.value, visit); },
                             [](Pass&) {},
                             [](Break&) {},
                             [](Continue&) {},
                             [](Comment&) {},
                             [&](InternalStmt& n) { visit_slot(n.value, visit), visit_slot(n.value2, visit); },
                         });
}

// Calls `visit` with each nested block of `stmt` that belongs to the same scope, in order. The function `visit` may
// replace the block. The body of a definition is not visited, because it is complete when the definition is created,
// and several definitions may share it.
template <class Visit>
void for_each_block(Stmt* stmt, Visit&& visit) {
  if (!StmtKinds::of(stmt).has(StmtKinds::nesting())) return;
  auto body_and_else = [&](auto* n) { visit(n->body), visit(n->orelse); };
  if (auto* branch = as<If>(stmt)) return body_and_else(branch);
  if (auto* loop = as<For>(stmt)) return body_and_else(loop);
  if (auto* loop = as<While>(stmt)) return body_and_else(loop);
  if (auto* with = as<With>(stmt)) return static_cast<void>(visit(with->body));
  if (auto* match = as<Match>(stmt))
    for (MatchCase& each : match->cases) visit(each.body);
  if (auto* attempt = as<Try>(stmt)) {
    visit(attempt->body);
    for (ExceptHandler& handler : attempt->handlers) visit(handler.body);
    visit(attempt->orelse);
    visit(attempt->finalbody);
  }
}
}  // namespace depyf::ast
