// What the text of an expression starts with.
#pragma once

#include <cstdint>

#include "print/precedence.h"

namespace depyf::print {

struct Operand {
  const ast::Expr* expr;
  Level loosest;
};

// The operand that the text starts with, null where it starts with something else.
Operand leftmost(const ast::Expr* expr);

// The part that the text of `expr` starts with.
const ast::Expr* first_leaf(const ast::Expr* expr);

// The line on which the text of `expr` starts; -1 if it is unknown.
std::int32_t first_line(const ast::Expr* expr);

// The same of what is behind the opening bracket, where `expr` is printed in brackets.
std::int32_t first_line_within(const ast::Expr* expr);

}  // namespace depyf::print
