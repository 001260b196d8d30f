// Where an expression stood in the source.
#pragma once

#include "ast/node.h"
#include "depyf/code_object.h"

namespace depyf::ast {

// The position of the instruction that made `expr`, which `code` holds, by the positions of 3.11 and later; null if it has none,
// or none on the line of `expr`. Its columns may be unknown (-1).
inline const Position* position_in(const CodeObject& code, const Expr* expr) {
  const std::size_t unit = expr->offset / 2;
  if (unit >= code.positions.size() || code.positions[unit].line != expr->line) return nullptr;
  return &code.positions[unit];
}

}  // namespace depyf::ast
