// Prints statements and their suites.
#pragma once

#include <string_view>

#include "print/aligned.h"
#include "print/definition.h"
#include "print/expression.h"
#include "print/pattern.h"

namespace depyf::print {

// Prints a block statement by statement. Definitions, patterns and expressions have printers of their own, which write
// to the same output, the `Sheet`.
class Statements {
 public:
  Statements(Sheet& sheet, Expressions& exprs)
      : out_(sheet.out),
        version_(sheet.version),
        options_(sheet.options),
        positions_(sheet.positions),
        breaks_(sheet.breaks),
        names_(sheet.names),
        constants_(sheet.constants),
        exprs_(exprs),
        lines_(sheet),
        patterns_(sheet, exprs),
        definitions_(sheet, lines_, exprs, *this) {}

  // The kind of line directly above the next statement of a block; it determines whether blank lines are printed above
  // the statement.
  enum class Above : std::uint8_t { nothing, comment, statement, heading };

  // Prints the body of a module, with its docstring.
  void module(ast::Block body);
  void statements(ast::Block body, Above above);
  void aligned_statements(ast::Block body, bool behind_colon);  // defined in aligned.cpp
  // Starts the line of `stmt`: pads to its source line, maps the line to the bytecode and indents it. The source line
  // of the statement is computed only if an option requires the padding or the map.
  void begin(const ast::Stmt* stmt) {
    options_.lines || options_.align ? begin_on_source_line(stmt) : out_.begin_line();
    breaks_.last_line = stmt->line;
  }
  // Breaks the text that was printed since the current line began into several lines, if the source had line breaks in
  // the text or if the text is too long. The text is a simple statement, or the header of `body`.
  void break_lines(ast::Block body = {}) {
    breaks_.break_lines([&] { return lines_.room(body); });
  }
  // Prints `text`, or `pass` if it is empty, as a statement that does nothing.
  void pass_line(std::string_view text = {});
  void comment(std::string_view text);

 private:
  void begin_on_source_line(const ast::Stmt* stmt);
  // Prints a colon and an indented block.
  void suite(ast::Block body);
  // Prints the suite of a clause that another clause follows; it is defined in aligned.cpp.
  void suite_before(ast::Block body, ast::Block following);
  // Prints a clause without a test, such as `else`; nothing if `body` is empty.
  void otherwise(std::string_view keyword, ast::Block body);
  void statement(const ast::Stmt* stmt);
  // Prints `stmt` without the beginning and the end of its line.
  void keyword_statement(const ast::Stmt* stmt);
  void return_statement(const ast::Stmt* stmt, const ast::Return& node);
  // Prints an `if` statement with its chain of `elif` clauses.
  void conditional(const ast::Stmt* stmt);
  void annotated_assignment(const ast::AnnAssign& assign);
  void import_from(const ast::Stmt* stmt, const ast::ImportFrom& import);
  void with_items(ast::List<ast::WithItem> items);
  // The next two functions print the cases of a match statement, and the clauses behind the body of a try statement.
  void cases(const ast::Match& node);
  void handlers(const ast::Try& node);
  void aliases(ast::List<ast::Alias> aliases, bool from, std::int32_t line, int step);
  void names(std::string_view keyword, ast::List<std::string_view> names);

  Emitter& out_;
  const Version version_;
  const PrintOptions& options_;
  Positions& positions_;
  Breaks& breaks_;
  Identifiers& names_;
  Constants& constants_;
  Expressions& exprs_;
  SourceLines lines_;
  Patterns patterns_;
  Definitions definitions_;
  // True if the next statement is written behind the text on the current line.
  bool continues_line_ = false;
};

}  // namespace depyf::print
