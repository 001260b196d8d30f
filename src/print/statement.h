// Statements and their suites.
#pragma once

#include <string_view>

#include "print/aligned.h"
#include "print/definition.h"
#include "print/expression.h"
#include "print/pattern.h"

namespace depyf::print {

class Statements {
 public:
  Statements(Sheet& sheet, Expressions& exprs)
      : out_(sheet.out),
        version_(sheet.version),
        options_(sheet.options),
        positions_(sheet.positions),
        breaks_(sheet.breaks),
        names_(sheet.names),
        exprs_(exprs),
        lines_(sheet),
        patterns_(sheet, exprs),
        definitions_(sheet, lines_, exprs, *this) {}

  enum class Above : std::uint8_t { nothing, comment, statement, heading };  // what stands in the block so far

  void module(ast::Block body);
  void statements(ast::Block body, Above above);
  void aligned_statements(ast::Block body, bool behind_colon);  // aligned.cpp
  // What begins the line of each statement.
  void begin(const ast::Stmt* stmt);
  // Breaks the lines of what was printed since the line began: a simple statement, or the header of `body`.
  void break_lines(ast::Block body = {}) {
    breaks_.break_lines([&] { return lines_.room(body); });
  }
  void pass_line();
  void comment(std::string_view text);

 private:
  // A colon and an indented block.
  void suite(ast::Block body);
  // The suite of a clause that another one follows; aligned.cpp.
  void suite_before(ast::Block body, ast::Block following);
  // Nothing where the block is empty.
  void otherwise(std::string_view keyword, ast::Block body);
  void statement(const ast::Stmt* stmt);
  // Without what begins and ends a line.
  void keyword_statement(const ast::Stmt* stmt);
  void conditional(const ast::Stmt* stmt);
  void annotated_assignment(const ast::AnnAssign& assign);
  void import_from(const ast::Stmt* stmt, const ast::ImportFrom& import);
  void with_items(ast::List<ast::WithItem> items);
  void cases(const ast::Match& node);
  void handlers(const ast::Try& node);
  void aliases(ast::List<ast::Alias> aliases, std::int32_t line, int step);
  void names(std::string_view keyword, ast::List<std::string_view> names);

  Emitter& out_;
  const Version version_;
  const PrintOptions& options_;
  Positions& positions_;
  Breaks& breaks_;
  Identifiers& names_;
  Expressions& exprs_;
  SourceLines lines_;
  Patterns patterns_;
  Definitions definitions_;
  bool continues_line_ = false;  // the next statement is written behind what stands on the line
};

}  // namespace depyf::print
