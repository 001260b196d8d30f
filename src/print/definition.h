// Prints function definitions, class definitions and docstrings.
#pragma once

#include "print/aligned.h"
#include "print/expression.h"

namespace depyf::print {

class Statements;

// The printer of definitions shares the `Sheet` (the output and its settings) with the printers of expressions and
// statements. `statements` prints the bodies of definitions.
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
  // Prints the docstring at the start of `body`, and the comments of the decompiler above the docstring. Returns how
  // many statements were printed; 0 if `body` has no docstring.
  std::size_t docstring(ast::Block body);

 private:
  // Prints the lines of the decorators; `line` is the source line of the `def` or `class` below them, or -1 if it is
  // unknown.
  void decorators(ast::List<ast::Expr*> decorators, std::int32_t line);
  void body(const ast::Stmt* stmt, const CodeObject* code, ast::Block body);
  // Prints the `...` of an empty body behind the colon, and returns true, if the source had the `...` there. Otherwise
  // prints nothing and returns false.
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
