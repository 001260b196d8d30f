// Defines functions that return the fields of each kind of node as a tuple of references, so that code for all kinds of
// nodes need not name the fields. Fields that do not change the meaning of a node, such as `code` and comments, are
// left out.
#pragma once

#include <tuple>

#include "ast/node.h"

namespace depyf::ast {

inline auto fields(const Name& n) { return std::tie(n.id); }
inline auto fields(const ConstantExpr& n) { return std::tie(n.value); }
inline auto fields(const Attribute& n) { return std::tie(n.value, n.attr); }
inline auto fields(const Subscript& n) { return std::tie(n.value, n.slice); }
inline auto fields(const Slice& n) { return std::tie(n.lower, n.upper, n.step); }
inline auto fields(const Keyword& n) { return std::tie(n.arg, n.value); }
inline auto fields(const Call& n) { return std::tie(n.func, n.args, n.keywords); }
inline auto fields(const BinOp& n) { return std::tie(n.left, n.op, n.right, n.in_place); }
inline auto fields(const UnaryExpr& n) { return std::tie(n.op, n.operand); }
inline auto fields(const BoolOp& n) { return std::tie(n.is_or, n.values); }
inline auto fields(const Compare& n) { return std::tie(n.left, n.ops, n.comparators); }
inline auto fields(const IfExp& n) { return std::tie(n.test, n.body, n.orelse); }
inline auto fields(const Tuple& n) { return std::tie(n.elts); }
inline auto fields(const ListExpr& n) { return std::tie(n.elts); }
inline auto fields(const SetExpr& n) { return std::tie(n.elts); }
inline auto fields(const Dict& n) { return std::tie(n.keys, n.values); }
inline auto fields(const FormattedValue& n) { return std::tie(n.value, n.conversion, n.format_spec); }
inline auto fields(const JoinedStr& n) { return std::tie(n.values); }
inline auto fields(const Interpolation& n) { return std::tie(n.value, n.text, n.conversion, n.format_spec); }
inline auto fields(const TemplateStr& n) { return std::tie(n.values); }
inline auto fields(const Arg& n) { return std::tie(n.name, n.annotation); }
inline auto fields(const Arguments& n) {
  return std::tie(n.posonly, n.args, n.kwonly, n.vararg, n.kwarg, n.defaults, n.kw_defaults);
}
inline auto fields(const Lambda& n) { return std::tie(n.args, n.body); }
inline auto fields(const Comprehension& n) { return std::tie(n.target, n.iter, n.ifs, n.is_async); }
inline auto fields(const ComprehensionExpr& n) { return std::tie(n.kind, n.elt, n.value, n.generators); }
inline auto fields(const Await& n) { return std::tie(n.value); }
inline auto fields(const Yield& n) { return std::tie(n.value); }
inline auto fields(const YieldFrom& n) { return std::tie(n.value); }
inline auto fields(const NamedExpr& n) { return std::tie(n.target, n.value); }
inline auto fields(const Starred& n) { return std::tie(n.value); }
inline auto fields(const Verbatim& n) { return std::tie(n.text); }
inline auto fields(const Internal& n) { return std::tie(n.marker, n.index, n.value); }

inline auto fields(const MatchValue& n) { return std::tie(n.value); }
inline auto fields(const MatchSingleton& n) { return std::tie(n.value); }
inline auto fields(const MatchSequence& n) { return std::tie(n.patterns); }
inline auto fields(const MatchMapping& n) { return std::tie(n.keys, n.patterns, n.rest); }
inline auto fields(const MatchClass& n) { return std::tie(n.cls, n.patterns, n.kwd_attrs, n.kwd_patterns); }
inline auto fields(const MatchStar& n) { return std::tie(n.name); }
inline auto fields(const MatchAs& n) { return std::tie(n.pattern, n.name); }
inline auto fields(const MatchOr& n) { return std::tie(n.patterns); }

inline auto fields(const TypeParam& n) { return std::tie(n.kind, n.name, n.bound, n.default_value); }
inline auto fields(const FunctionDef& n) {
  return std::tie(n.name, n.args, n.body, n.decorators, n.returns, n.is_async, n.type_params);
}
inline auto fields(const ClassDef& n) {
  return std::tie(n.name, n.bases, n.keywords, n.body, n.decorators, n.type_params);
}
inline auto fields(const Return& n) { return std::tie(n.value); }
inline auto fields(const Delete& n) { return std::tie(n.targets); }
inline auto fields(const Assign& n) { return std::tie(n.targets, n.value); }
inline auto fields(const AugAssign& n) { return std::tie(n.target, n.op, n.value); }
inline auto fields(const AnnAssign& n) { return std::tie(n.target, n.annotation, n.value, n.simple); }
inline auto fields(const TypeAlias& n) { return std::tie(n.name, n.type_params, n.value); }
inline auto fields(const For& n) { return std::tie(n.target, n.iter, n.body, n.orelse, n.is_async); }
inline auto fields(const While& n) { return std::tie(n.test, n.body, n.orelse); }
inline auto fields(const If& n) { return std::tie(n.test, n.body, n.orelse); }
inline auto fields(const WithItem& n) { return std::tie(n.context_expr, n.optional_vars); }
inline auto fields(const With& n) { return std::tie(n.items, n.body, n.is_async); }
inline auto fields(const MatchCase& n) { return std::tie(n.pattern, n.guard, n.body); }
inline auto fields(const Match& n) { return std::tie(n.subject, n.cases); }
inline auto fields(const Raise& n) { return std::tie(n.exc, n.cause); }
inline auto fields(const ExceptHandler& n) { return std::tie(n.type, n.name, n.body); }
inline auto fields(const Try& n) { return std::tie(n.body, n.handlers, n.orelse, n.finalbody, n.is_star); }
inline auto fields(const Assert& n) { return std::tie(n.test, n.msg); }
inline auto fields(const Alias& n) { return std::tie(n.name, n.asname); }
inline auto fields(const Import& n) { return std::tie(n.names, n.is_lazy); }
inline auto fields(const ImportFrom& n) { return std::tie(n.module, n.names, n.level, n.is_lazy); }
inline auto fields(const Global& n) { return std::tie(n.names); }
inline auto fields(const Nonlocal& n) { return std::tie(n.names); }
inline auto fields(const ExprStmt& n) { return std::tie(n.value); }
inline auto fields(const Pass&) { return std::tie(); }
inline auto fields(const Break&) { return std::tie(); }
inline auto fields(const Continue&) { return std::tie(); }
inline auto fields(const Comment& n) { return std::tie(n.text); }
inline auto fields(const InternalStmt& n) { return std::tie(n.marker, n.index, n.value, n.value2); }

}  // namespace depyf::ast
