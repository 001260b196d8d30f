// Prints function definitions, class definitions and docstrings.
#pragma once

#include "print/aligned.h"
#include "print/expression.h"

namespace depyf::print {

class Statements;

// Shares the `Sheet` with the printers of expressions and statements; `statements` prints the bodies of definitions.
class Definitions {
 public:
  Definitions(Sheet& sheet, SourceLines& lines, Expressions& exprs, Statements& statements)
      : out_(sheet.out),
        version_(sheet.version),
        options_(sheet.options),
        positions_(sheet.positions),
        breaks_(sheet.breaks),
        names_(sheet.names),
        lines_(lines),
        exprs_(exprs),
        statements_(statements) {}

  void definition(const ast::Stmt* stmt, const ast::FunctionDef& node);
  void definition(const ast::Stmt* stmt, const ast::ClassDef& node);
  // Prints the docstring at the start of `body`, and the marker comments above it. Returns how many statements were
  // printed; 0 if `body` has no docstring.
  std::size_t docstring(ast::Block body);

 private:
  // Prints the lines of the decorators; `line` is the source line of the keyword below them, or -1.
  void decorators(ast::List<ast::Expr*> decorators, std::int32_t line);
  void body(const ast::Stmt* stmt, const CodeObject* code, ast::Block body);
  // Prints the `...` of an empty body behind the colon if the source had it there, and returns true in that case.
  bool body_on_line(const CodeObject* code);

  Emitter& out_;
  const Version version_;
  const PrintOptions& options_;
  Positions& positions_;
  Breaks& breaks_;
  Identifiers& names_;
  SourceLines& lines_;
  Expressions& exprs_;
  Statements& statements_;
};

}  // namespace depyf::print
