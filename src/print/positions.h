// The positions of the code whose statements are printed.
#pragma once

#include <cstdint>

#include "ast/node.h"

namespace depyf {
struct Position;
}

namespace depyf::print {

struct Positions {
  const CodeObject* code;  // that the statements belong to which are being printed; null: none

  // The line on which `expr` ends, by the positions of 3.11 and later; -1 if it is unknown.
  std::int32_t end_line(const ast::Expr* expr) const;
  // The column at which `expr` starts, by the positions of 3.11 and later; -1 if it is unknown.
  std::int32_t column(const ast::Expr* expr) const;
  // The position of the instruction that ends `stmt`; null if it has none.
  const Position* position_of(const ast::Stmt* stmt) const;
  // True if the instruction at `leaf` loads this very constant, not a tuple that the compiler made of it and its neighbours.
  bool loads(const ast::Expr* leaf, const Constant& constant) const;
  bool has_own_position(const ast::Expr* leaf, const Constant& constant) const {
    return !constant.text.empty() && loads(leaf, constant);
  }
  // True if a return had its value in brackets on the lines below.
  bool is_in_brackets(const ast::Stmt* stmt, const ast::Expr* value) const;
};

}  // namespace depyf::print
