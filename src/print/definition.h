// Functions, classes and docstrings.
#pragma once

#include "print/aligned.h"
#include "print/expression.h"

namespace depyf::print {

class Statements;

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
  // Prints the docstring that `body` begins with, below its marks; returns how many statements these are, 0 if it has none.
  std::size_t docstring(ast::Block body);

 private:
  void decorators(ast::List<ast::Expr*> decorators, std::int32_t line);
  void body(const ast::Stmt* stmt, const CodeObject* code, ast::Block body);
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
