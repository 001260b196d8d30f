// The columns at which the statements of one code object stood in the source, as far as positions show them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ast/node.h"
#include "depyf/constant.h"

namespace depyf {
class Context;

// Returns the operand of a test that stands first in the source.
const ast::Expr* innermost_left(const ast::Expr* test);
// Returns the last line of the test of a statement on `line`, as far as the first lines of its operands show it.
int last_line_of_test(const ast::Expr* test, int line);

// Counts the columns of statements by their remainder modulo `period`, which is enough to find the multiples of a unit
// of indentation.
class KnownColumns {
 public:
  void add(int column) {
    least_ = total_ ? std::min(least_, column) : column;
    ++total_;
    ++count_of_[std::size_t(column) % period];
  }
  int total() const { return total_; }
  // Returns how many columns are a multiple of `unit` behind the least one.
  int multiples(int unit) const {
    int count = 0;
    for (int remainder = 0; remainder < period; ++remainder)
      if ((remainder - least_) % unit == 0) count += count_of_[std::size_t(remainder)];
    return count;
  }

 private:
  static constexpr int period = 12;  // a multiple of all units of indentation that are tried
  std::array<int, period> count_of_{};  // by remainder
  int total_ = 0, least_ = 0;
};

class StatementColumns {
 public:
  StatementColumns(const CodeObject& code, ast::Block body);

  // Returns the number of columns of one level of indentation; 0 if no column is known.
  int unit() const { return unit_; }
  // Returns the column of a statement that is the first on its line; -1 if it is unknown.
  int of(const ast::Stmt* stmt) const {
    const bool is_own = stmt->column >= 0 && !ast::is<ast::Return>(stmt) && !ast::is<ast::Delete>(stmt);
    return is_own ? stmt->column : column(stmt, 0);
  }
  // Returns the column of the first statement of a block; -1 if it is unknown.
  int of_first(ast::Block body) const { return body.empty() ? -1 : of(body[0]); }
  // Returns the column where the first operand of a test begins; -1 if it is unknown.
  int of_test(const ast::Expr* test) const { return position_of(innermost_left(test)); }

  // True if a test may be this number of columns behind the start of its `if`: behind `if `, `if (`, `if not ` or `if
  // not (`.
  static bool is_behind_if(int columns) { return columns == 3 || columns == 4 || columns == 7 || columns == 8; }
  // True if the statement is an `if` whose test has the column of a test behind an `elif` at column `base`.
  bool is_elif(const ast::Stmt* stmt, int base) const;
  // True if all statements with a known column are at column `base`, and at least one column is known.
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
