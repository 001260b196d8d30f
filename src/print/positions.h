// Looks up positions in the code object whose statements are being printed.
#pragma once

#include <cstdint>

#include "ast/position.h"
#include "depyf/code_object.h"

namespace depyf::print {

class Positions {
 public:
  explicit Positions(const CodeObject* of_statements) : code(of_statements) {}

  const CodeObject* code;  // the code object to which the printed statements belong; null if it is unknown

  // Returns the position of the instruction that made `expr`; null if it is unknown.
  const Position* of(const ast::Expr* expr) const { return code ? ast::position_in(*code, expr) : nullptr; }
  // Returns the line on which `expr` ends; -1 if it is unknown. Only the positions of 3.11 and later have end lines.
  std::int32_t end_line(const ast::Expr* expr) const {
    const Position* position = of(expr);
    return position ? position->end_line : -1;
  }
  // Returns the column at which `expr` starts; -1 if it is unknown. Only the positions of 3.11 and later have columns.
  std::int32_t column(const ast::Expr* expr) const;
  // Searches the instructions from offset `stmt->offset` on, and returns the position of the first instruction that is
  // on the line of `stmt`; null if none of the next 1000 code units is on this line.
  const Position* position_of(const ast::Stmt* stmt) const;
  // Returns true if the instruction of `leaf` loads exactly `constant`; false if the compiler folded the constant into
  // a tuple with its neighbours.
  bool loads(const ast::Expr* leaf, const Constant& constant) const {
    if (!code || leaf->offset + 1 >= code->bytecode.size()) return false;
    // Most constants of a tree are items of `code->constants`, with an index that fits into one byte.
    const std::size_t index = code->bytecode[leaf->offset + 1];
    return (index < code->constants.size() && &code->constants[index] == &constant) || loads_equal(leaf, constant);
  }
  bool has_own_position(const ast::Expr* leaf, const Constant& constant) const {
    return !constant.text.empty() && loads(leaf, constant);
  }
  // Returns true if the source had the value of a `return` in brackets, on the lines below the keyword.
  bool is_in_brackets(const ast::Stmt* stmt, const ast::Expr* value) const;

 private:
  bool loads_equal(const ast::Expr* leaf, const Constant& constant) const;
};

}  // namespace depyf::print
