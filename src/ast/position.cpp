#include "ast/position.h"

#include "depyf/code_object.h"

namespace depyf::ast {

std::span<const Position> positions_of(const CodeObject& code) { return code.positions; }

const Position* position_in(const CodeObject& code, const Expr* expr) {
  const std::size_t unit = expr->offset / 2;
  if (unit >= code.positions.size() || code.positions[unit].line != expr->line) return nullptr;
  return &code.positions[unit];
}

}  // namespace depyf::ast
