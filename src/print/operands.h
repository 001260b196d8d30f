// Finds the operand, and the source line, with which the text of an expression starts.
#pragma once

#include <cstdint>

#include "print/precedence.h"

namespace depyf::print {

// The leftmost operand of an expression, and the loosest level that needs no parentheses there.
struct Operand {
  const ast::Expr* expr;
  Level loosest;
};

// Returns the operand with which the text of `expr` starts; its `expr` is null if the text starts with something else.
Operand leftmost(const ast::Expr* expr);

// Returns the innermost part with which the text of `expr` starts, for example `a` of `a.b + c`.
const ast::Expr* first_leaf(const ast::Expr* expr);

// The line on which the text of `expr` starts; -1 if it is unknown.
std::int32_t first_line(const ast::Expr* expr);

// Returns the line on which the text of `expr` starts behind the bracket, if `expr` is printed in brackets.
std::int32_t first_line_within(const ast::Expr* expr);

}  // namespace depyf::print
