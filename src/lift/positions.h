// Resets the positions of expressions that one code object evaluates, and that are printed in the source of another
// code object.
#pragma once

#include <limits>

#include "ast/visit.h"

namespace depyf {

// Clears the offsets of `expr` and of all expressions in it, but keeps the lines. The printer looks up columns by
// offset, and the offset of an instruction of another code object would lead to wrong columns.
inline void forget_columns(ast::Expr* expr, int depth = 0) {
  // The limit on the recursion depth.
  constexpr int deepest = 1000;
  constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max() / 2;  // beyond any bytecode
  if (!expr || depth > deepest) return;
  expr->offset = nowhere;
  ast::for_each_child(expr, [&](ast::Expr*& child) { forget_columns(child, depth + 1); });
}

}  // namespace depyf
