// Where an expression stood in the source.
#pragma once

#include "ast/node.h"
#include "depyf/code_object.h"

namespace depyf::ast {

// Returns the position of the instruction in `code` that made `expr`, as 3.11 and later record it. Returns null if the
// instruction has no position, or none on the line of `expr`. The columns of the position may be unknown (-1).
inline const Position* position_in(const CodeObject& code, const Expr* expr) {
  const std::size_t unit = expr->offset / 2;
  if (unit >= code.positions.size() || code.positions[unit].line != expr->line) return nullptr;
  return &code.positions[unit];
}

}  // namespace depyf::ast
