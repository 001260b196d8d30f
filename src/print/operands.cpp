#include "print/operands.h"

namespace depyf::print {

using namespace ast;

const Expr* first_leaf(const Expr* expr) {
  while (expr) {
    const Operand operand = leftmost(expr);
    if (operand.expr) expr = operand.expr;
    // A tuple without a position starts where its first element starts.
    else if (auto* tuple = as<Tuple>(expr); tuple && !tuple->elts.empty() && expr->line < 0) expr = tuple->elts[0];
    else if (auto* starred = as<Starred>(expr)) expr = starred->value;
    else if (auto* named = as<NamedExpr>(expr)) expr = named->target;
    else break;
  }
  return expr;
}

std::int32_t first_line(const Expr* expr) {
  const Expr* leaf = first_leaf(expr);
  return leaf ? leaf->line : -1;
}

std::int32_t first_line_within(const Expr* expr) {
  auto* tuple = as<Tuple>(expr);
  return first_line(tuple && !tuple->elts.empty() ? tuple->elts[0] : expr);
}

// The operators bind their left operand as tightly as precedence.h says; a call, a subscript and an attribute need an
// atom.
Operand leftmost(const Expr* expr) {
  // Most expressions are names or constants, which have no operand.
  if (is<Name>(expr) || is<ConstantExpr>(expr)) return {nullptr, Level::atom};
  if (auto* n = as<BinOp>(expr)) return {n->left, operator_of(n->op).left};
  if (auto* n = as<BoolOp>(expr))
    return {n->values.empty() ? nullptr : n->values[0], tighter(n->is_or ? Level::or_ : Level::and_)};
  if (auto* n = as<Compare>(expr)) return {n->left, Level::bit_or};
  if (auto* n = as<Attribute>(expr)) return {n->value, Level::atom};
  if (auto* n = as<Subscript>(expr)) return {n->value, Level::atom};
  if (auto* n = as<Call>(expr)) return {n->func, Level::atom};
  if (auto* n = as<IfExp>(expr)) return {n->body, Level::or_};
  return {nullptr, Level::atom};
}

}  // namespace depyf::print
