// Looks up the position of an expression in the source.
#pragma once

#include <span>

#include "ast/node.h"
#include "depyf/code_object.h"
#include "depyf/position.h"

namespace depyf::ast {

// Returns the positions of all code units of `code`, in their order.
inline std::span<const Position> positions_of(const CodeObject& code) { return code.positions; }

// Returns the position of the instruction in `code` that pushed `expr`, as 3.11 and later record it. Returns null if
// the instruction has no position, or if its position is not on the line of `expr`. The columns of the position may be
// unknown (-1).
inline const Position* position_in(const CodeObject& code, const Expr* expr) {
  const std::size_t unit = expr->offset / 2;
  return unit < code.positions.size() && code.positions[unit].line == expr->line ? &code.positions[unit] : nullptr;
}

}  // namespace depyf::ast
