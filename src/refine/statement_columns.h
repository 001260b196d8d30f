// Derives the columns that the statements of one code object have in the source from the positions of its instructions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ast/node.h"
#include "depyf/constant.h"
#include "support/branch_free.h"

namespace depyf {
class Context;

// Returns the operand of `test` that comes first in the source.
const ast::Expr* innermost_left(const ast::Expr* test);
// Returns the last line of the test of a statement on line `line`, as far as the first lines of the operands of the
// test show it.
int last_line_of_test(const ast::Expr* test, int line);

// Counts the columns of statements by their remainder modulo `period`, because the remainder shows if a column is a
// multiple of a unit of indentation.
class KnownColumns {
 public:
  // Adds a column; an unknown column (-1) is ignored. `add` has no branch, because the processor could not predict it.
  void add(int column) {
    const bool is_known = column >= 0;
    least_ = std::min(least_, static_cast<unsigned>(column));  // an unknown column is the greatest unsigned number
    total_ += is_known;
    count_of_[unsigned(or_zero(column)) % period] += is_known;
  }
  int total() const { return total_; }
  // Returns the number of columns whose distance from the least column is a multiple of `unit`.
  int multiples(int unit) const {
    int count = 0;
    for (int remainder = 0; remainder < period; ++remainder)
      if ((remainder - int(least_)) % unit == 0) count += count_of_[std::size_t(remainder)];
    return count;
  }

 private:
  static constexpr int period = 12;  // a multiple of all units of indentation that are tried
  std::array<int, period> count_of_{};  // the number of columns with each remainder
  int total_ = 0;
  unsigned least_ = static_cast<unsigned>(-1);
};

class StatementColumns {
 public:
  StatementColumns(const CodeObject& code, ast::Block body);

  // Returns the number of columns of one level of indentation; 0 if no column is known.
  int unit() const { return unit_; }
  // Returns the column of `stmt`, which is the first statement on its line; -1 if the column is unknown.
  int of(const ast::Stmt* stmt) const {
    const bool is_own = stmt->column >= 0 && !ast::is<ast::Return>(stmt) && !ast::is<ast::Delete>(stmt);
    return is_own ? stmt->column : column(stmt, 0);
  }
  // Returns the column of the first statement of `body`; -1 if the column is unknown or `body` is empty.
  int of_first(ast::Block body) const { return body.empty() ? -1 : of(body[0]); }
  // Returns the column where the first operand of `test` begins; -1 if the column is unknown.
  int of_test(const ast::Expr* test) const { return position_of(innermost_left(test)); }

  // True if a test may be `columns` columns to the right of the start of its `if`: behind `if `, `if (`, `if not ` or
  // `if not (`.
  static bool is_behind_if(int columns) { return columns == 3 || columns == 4 || columns == 7 || columns == 8; }
  // True if `stmt` is an `if` that may be an `elif` at column `base`, because its test is in a column where the test
  // behind that `elif` would be.
  bool is_elif(const ast::Stmt* stmt, int base) const;
  // True if all `statements` with a known column are at column `base`, and the column of at least one statement is
  // known.
  bool all_at(ast::Block statements, int base) const;

 private:
  void collect(ast::Block body, int depth);
  int column(const ast::Stmt* stmt, int depth) const;
  int position_of(const ast::Expr* expr) const;

  const CodeObject& code_;
  KnownColumns known_;
  std::vector<std::int32_t> with_lines_;  // the lines of the with statements
  int unit_ = 0;
};

// Chooses between `not (a or b)` and `not a and not b` as the test of an `if` at column `base`.
void choose_negation(Context& context, const StatementColumns& columns, ast::If& branch, int base);

}  // namespace depyf
