// Prints the patterns of match statements.
#pragma once

#include "print/expression.h"

namespace depyf::print {

// Like an expression, a pattern is put in parentheses if it binds looser than its place allows.
class Patterns {
 public:
  Patterns(Sheet& sheet, Expressions& exprs)
      : out_(sheet.out), breaks_(sheet.breaks), names_(sheet.names), constants_(sheet.constants), exprs_(exprs) {}

  // Prints the pattern behind `case`, in parentheses if it is broken over several lines.
  void of_case(const ast::Pattern* pattern);

 private:
  void pattern(const ast::Pattern* pattern, int loosest);
  void patterns(ast::List<ast::Pattern*> patterns);
  void value(const ast::Expr* value);

  Emitter& out_;
  Breaks& breaks_;
  Identifiers& names_;
  Constants& constants_;
  Expressions& exprs_;
};

}  // namespace depyf::print
