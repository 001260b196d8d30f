#include "print/positions.h"

#include <algorithm>

#include "ast/position.h"
#include "depyf/code_object.h"
#include "print/operands.h"

namespace depyf::print {

using namespace ast;

// A value in brackets on the lines below `return` starts less than seven columns, the width of `return `, to the right
// of the `return`. A `return` that leaves a `with` statement may have the position of the `with` statement, but the
// value of this `return` starts more than seven columns to the right of the `with`.
bool Positions::is_in_brackets(const Stmt* stmt, const Expr* value) const {
  constexpr int behind_return = 7;  // columns of `return `
  const Expr* leaf =
      first_leaf(is<Tuple>(value) && !as<Tuple>(value)->elts.empty() ? as<Tuple>(value)->elts[0] : value);
  if (!code || !leaf || leaf->line <= stmt->line) return false;
  const Position* outer = position_of(stmt);
  const Position* inner = position_in(*code, leaf);
  return outer && inner && outer->end_line > inner->end_line && outer->column >= 0 && inner->column > outer->column &&
         inner->column < outer->column + behind_return;
}

std::int32_t Positions::column(const Expr* expr) const {
  const Position* position = of(expr);
  return position ? position->column : -1;
}

const Position* Positions::position_of(const Stmt* stmt) const {
  constexpr std::size_t looked_at = 1000;  // the most code units that are searched
  if (!code || stmt->line < 0) return nullptr;
  const std::size_t unit = stmt->offset / 2, end = std::min(code->positions.size(), unit + looked_at);
  for (std::size_t at = unit; at < end; ++at)
    if (code->positions[at].line == stmt->line) return &code->positions[at];
  return nullptr;
}

// Returns true if the instruction of `leaf` loads a constant with the kind and the text of `constant`, which are
// sufficient for a comparison. The index of the constant may have a second byte, which is in an EXTENDED_ARG before the
// instruction.
bool Positions::loads_equal(const Expr* leaf, const Constant& constant) const {
  const std::size_t low = code->bytecode[leaf->offset + 1];
  const std::size_t high = leaf->offset >= 2 ? code->bytecode[leaf->offset - 1] : 0;
  const auto is_constant = [&](std::size_t index) {
    if (index >= code->constants.size()) return false;
    const Constant& entry = code->constants[index];
    return entry.kind == constant.kind && entry.text == constant.text;
  };
  return is_constant(low) || is_constant(low | high << 8);
}

}  // namespace depyf::print
