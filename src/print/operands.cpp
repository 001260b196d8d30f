#include "print/operands.h"

namespace depyf::print {

using namespace ast;

const Expr* first_leaf(const Expr* expr) {
  while (expr && !is<Name>(expr) && !is<ConstantExpr>(expr)) {
    if (const Expr* operand = leftmost(expr).expr) expr = operand;
    // A tuple without a position starts where its first element starts.
    else if (auto* tuple = as<Tuple>(expr); tuple && !tuple->elts.empty() && expr->line < 0) expr = tuple->elts[0];
    else if (auto* starred = as<Starred>(expr)) expr = starred->value;
    else if (auto* named = as<NamedExpr>(expr)) expr = named->target;
    else break;
  }
  return expr;
}

std::int32_t first_line_within(const Expr* expr) {
  auto* tuple = as<Tuple>(expr);
  return first_line(tuple && !tuple->elts.empty() ? tuple->elts[0] : expr);
}

}  // namespace depyf::print
