// Finds the operand, and the source line, with which the text of an expression starts.
#pragma once

#include <cstdint>

#include "print/precedence.h"

namespace depyf::print {

// The leftmost operand of an expression, and the loosest level of precedence that this operand may have without
// parentheses.
struct Operand {
  const ast::Expr* expr;
  Level loosest;
};

// Returns the operand with which the text of `expr` starts. The member `expr` of the result is null if the text of
// `expr` does not start with an operand. The table in precedence.h determines how tightly the left operand of an
// operator must bind. Calls, subscripts and attributes must start with an atom.
inline Operand leftmost(const ast::Expr* expr) {
  if (auto* n = ast::as<ast::Attribute>(expr)) return {n->value, Level::atom};
  if (auto* n = ast::as<ast::Call>(expr)) return {n->func, Level::atom};
  if (auto* n = ast::as<ast::Subscript>(expr)) return {n->value, Level::atom};
  if (auto* n = ast::as<ast::BinOp>(expr)) return {n->left, operator_of(n->op).left};
  if (auto* n = ast::as<ast::Compare>(expr)) return {n->left, Level::bit_or};
  if (auto* n = ast::as<ast::BoolOp>(expr))
    return {n->values.empty() ? nullptr : n->values[0], tighter(n->is_or ? Level::or_ : Level::and_)};
  if (auto* n = ast::as<ast::IfExp>(expr)) return {n->body, Level::or_};
  return {nullptr, Level::atom};
}

// Returns the innermost part with which the text of `expr` starts, for example `a` of `a.b + c`.
const ast::Expr* first_leaf(const ast::Expr* expr);

// Returns the line on which the text of `expr` starts; -1 if it is unknown.
inline std::int32_t first_line(const ast::Expr* expr) {
  // Most expressions are names or constants, which have no operand.
  if (ast::is<ast::Name>(expr) || ast::is<ast::ConstantExpr>(expr)) return expr->line;
  const ast::Expr* leaf = first_leaf(expr);
  return leaf ? leaf->line : -1;
}

// Returns the line on which the text inside the brackets starts if `expr` is printed in brackets; for a tuple that is
// the line of its first element.
std::int32_t first_line_within(const ast::Expr* expr);

}  // namespace depyf::print
