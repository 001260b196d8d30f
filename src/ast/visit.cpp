#include "ast/visit.h"

#include "ast/overloaded.h"

namespace depyf::ast {
namespace {

using Visitor = FunctionRef<void(Expr*&)>;

void one(Expr*& slot, Visitor visit) {
  if (slot) visit(slot);
}

void all(List<Expr*> slots, Visitor visit) {
  for (Expr*& slot : slots) one(slot, visit);
}

void all(List<Keyword> keywords, Visitor visit) {
  for (Keyword& keyword : keywords) one(keyword.value, visit);
}

void annotations(List<Arg> args, Visitor visit) {
  for (Arg& arg : args) one(arg.annotation, visit);
}

void defaults(const Arguments* args, Visitor visit) {
  if (!args) return;
  all(args->defaults, visit);
  all(args->kw_defaults, visit);
}

// Visits annotations in the order of CPython's compiler, which takes the plain arguments before the positional-only
// ones.
void annotations(const Arguments* args, Visitor visit) {
  if (!args) return;
  auto* slots = const_cast<Arguments*>(args);
  annotations(args->args, visit);
  annotations(args->posonly, visit);
  one(slots->vararg.annotation, visit);
  annotations(args->kwonly, visit);
  one(slots->kwarg.annotation, visit);
}

void type_params(List<TypeParam> params, Visitor visit) {
  for (TypeParam& param : params) {
    one(param.bound, visit);
    one(param.default_value, visit);
  }
}

void pattern_exprs(Pattern* pattern, Visitor visit) {
  if (!pattern) return;
  auto nested = [&](List<Pattern*> patterns) {
    for (Pattern* each : patterns) pattern_exprs(each, visit);
  };
  std::visit(Overloaded{
                 [&](MatchValue& n) { one(n.value, visit); },
                 [](MatchSingleton&) {},
                 [&](MatchSequence& n) { nested(n.patterns); },
                 [&](MatchMapping& n) { all(n.keys, visit), nested(n.patterns); },
                 [&](MatchClass& n) { one(n.cls, visit), nested(n.patterns), nested(n.kwd_patterns); },
                 [](MatchStar&) {},
                 [&](MatchAs& n) { pattern_exprs(n.pattern, visit); },
                 [&](MatchOr& n) { nested(n.patterns); },
             },
             pattern->node);
}

}  // namespace

void for_each_child(Expr* expr, Visitor visit) {
  std::visit(Overloaded{
                 [](Name&) {},
                 [](Verbatim&) {},
                 [](ConstantExpr&) {},
                 [&](Attribute& n) { one(n.value, visit); },
                 [&](Subscript& n) { one(n.value, visit), one(n.slice, visit); },
                 [&](Slice& n) { one(n.lower, visit), one(n.upper, visit), one(n.step, visit); },
                 [&](Call& n) { one(n.func, visit), all(n.args, visit), all(n.keywords, visit); },
                 [&](BinOp& n) { one(n.left, visit), one(n.right, visit); },
                 [&](UnaryExpr& n) { one(n.operand, visit); },
                 [&](BoolOp& n) { all(n.values, visit); },
                 [&](Compare& n) { one(n.left, visit), all(n.comparators, visit); },
                 [&](IfExp& n) { one(n.test, visit), one(n.body, visit), one(n.orelse, visit); },
                 [&](Tuple& n) { all(n.elts, visit); },
                 [&](ListExpr& n) { all(n.elts, visit); },
                 [&](SetExpr& n) { all(n.elts, visit); },
                 [&](Dict& n) {
                   for (std::size_t i = 0; i < n.values.size(); ++i) {
                     if (i < n.keys.size()) one(n.keys[i], visit);
                     one(n.values[i], visit);
                   }
                 },
                 [&](FormattedValue& n) { one(n.value, visit), one(n.format_spec, visit); },
                 [&](JoinedStr& n) { all(n.values, visit); },
                 [&](Interpolation& n) { one(n.value, visit), one(n.format_spec, visit); },
                 [&](TemplateStr& n) { all(n.values, visit); },
                 [&](Lambda& n) { defaults(n.args, visit), one(n.body, visit); },
                 [&](ComprehensionExpr& n) {
                   for (Comprehension& each : n.generators) {
                     one(each.iter, visit);
                     one(each.target, visit);
                     all(each.ifs, visit);
                   }
                   one(n.elt, visit);
                   one(n.value, visit);
                 },
                 [&](Await& n) { one(n.value, visit); },
                 [&](Yield& n) { one(n.value, visit); },
                 [&](YieldFrom& n) { one(n.value, visit); },
                 [&](NamedExpr& n) { one(n.value, visit), one(n.target, visit); },
                 [&](Starred& n) { one(n.value, visit); },
                 [&](Internal& n) { one(n.value, visit); },
             },
             expr->node);
}

void for_each_expr(Stmt* stmt, Visitor visit) {
  std::visit(Overloaded{
                 [&](FunctionDef& n) {
                   all(n.decorators, visit);
                   defaults(n.args, visit);
                   type_params(n.type_params, visit);
                   annotations(n.args, visit);
                   one(n.returns, visit);
                 },
                 [&](ClassDef& n) {
                   all(n.decorators, visit);
                   type_params(n.type_params, visit);
                   all(n.bases, visit);
                   all(n.keywords, visit);
                 },
                 [&](Return& n) { one(n.value, visit); },
                 [&](Delete& n) { all(n.targets, visit); },
                 [&](Assign& n) { one(n.value, visit), all(n.targets, visit); },
                 [&](AugAssign& n) { one(n.target, visit), one(n.value, visit); },
                 [&](AnnAssign& n) { one(n.value, visit), one(n.target, visit), one(n.annotation, visit); },
                 [&](TypeAlias& n) { type_params(n.type_params, visit), one(n.value, visit); },
                 [&](For& n) { one(n.iter, visit), one(n.target, visit); },
                 [&](While& n) { one(n.test, visit); },
                 [&](If& n) { one(n.test, visit); },
                 [&](With& n) {
                   for (WithItem& item : n.items) one(item.context_expr, visit), one(item.optional_vars, visit);
                 },
                 [&](Match& n) {
                   one(n.subject, visit);
                   for (MatchCase& each : n.cases) pattern_exprs(each.pattern, visit), one(each.guard, visit);
                 },
                 [&](Raise& n) { one(n.exc, visit), one(n.cause, visit); },
                 [&](Try& n) {
                   for (ExceptHandler& handler : n.handlers) one(handler.type, visit);
                 },
                 [&](Assert& n) { one(n.test, visit), one(n.msg, visit); },
                 [](Import&) {},
                 [](ImportFrom&) {},
                 [](Global&) {},
                 [](Nonlocal&) {},
                 [&](ExprStmt& n) { one(n.value, visit); },
                 [](Pass&) {},
                 [](Break&) {},
                 [](Continue&) {},
                 [](Comment&) {},
                 [&](InternalStmt& n) { one(n.value, visit), one(n.value2, visit); },
             },
             stmt->node);
}

void visit_blocks(Stmt* stmt, FunctionRef<void(Block&)> visit) {
  std::visit(Overloaded{
                 [](FunctionDef&) {},
                 [](ClassDef&) {},
                 [](Return&) {},
                 [](Delete&) {},
                 [](Assign&) {},
                 [](AugAssign&) {},
                 [](AnnAssign&) {},
                 [](TypeAlias&) {},
                 [&](For& n) { visit(n.body), visit(n.orelse); },
                 [&](While& n) { visit(n.body), visit(n.orelse); },
                 [&](If& n) { visit(n.body), visit(n.orelse); },
                 [&](With& n) { visit(n.body); },
                 [&](Match& n) {
                   for (MatchCase& each : n.cases) visit(each.body);
                 },
                 [](Raise&) {},
                 [&](Try& n) {
                   visit(n.body);
                   for (ExceptHandler& handler : n.handlers) visit(handler.body);
                   visit(n.orelse);
                   visit(n.finalbody);
                 },
                 [](Assert&) {},
                 [](Import&) {},
                 [](ImportFrom&) {},
                 [](Global&) {},
                 [](Nonlocal&) {},
                 [](ExprStmt&) {},
                 [](Pass&) {},
                 [](Break&) {},
                 [](Continue&) {},
                 [](Comment&) {},
                 [](InternalStmt&) {},
             },
             stmt->node);
}

StmtKinds StmtKinds::in(Block body) {
  static_assert(std::variant_size_v<Stmt::Node> <= 32);
  StmtKinds kinds;
  for (Stmt* stmt : body) {
    kinds.bits_ |= of(stmt).bits_;
    for_each_block(stmt, [&](Block& inner) { kinds.bits_ |= in(inner).bits_; });
  }
  return kinds;
}

}  // namespace depyf::ast
