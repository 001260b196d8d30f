// Finds the line of the source on which each statement stood, for the option `--align lines`; aligned.cpp explains the
// option.
#pragma once

#include <string_view>
#include <vector>

#include "print/sheet.h"

namespace depyf::print {

// Returns true if `stmt` may share a line with other statements, as in `a = 1; b = 2`.
bool is_simple(const ast::Stmt* stmt);

// Computes the source lines of statements, and pads the printed text with blank lines until each statement is on its
// source line.
class SourceLines {
 public:
  explicit SourceLines(Sheet& sheet) : out_(sheet.out), options_(sheet.options), positions_(sheet.positions) {}

  // The line of the source on which the statement after the current statement starts; -1 if it is unknown.
  std::int32_t next_line = -1;

  // Returns the line of the source on which `stmt` starts; -1 if it is unknown.
  std::int32_t source_line(const ast::Stmt* stmt);
  // Returns the source line of the first statement in `body` that has a known line; -1 if none has.
  std::int32_t first_source_line(ast::Block body);
  // Writes blank lines until the next printed line has the number `line`. Does nothing without `--align lines`, or if
  // the printed text is already past `line`.
  void pad_to(std::int32_t line);
  // Writes blank lines in front of a clause header such as `else:`, which has no line in the bytecode, so that the
  // header stands on the line above the source line of its `body`.
  void pad_to_clause(ast::Block body);
  // Returns true if, with `--align lines`, the source line of the next statement is at most one below the current line.
  bool has_no_room_below();
  // Returns true if, with `--align lines`, all of `body` can be printed behind the colon of its header, for example
  // behind `if x:`. The header must have been written just before the call.
  bool fits_behind_colon(ast::Block body) { return options_.align && all_fit_behind_colon(body); }
  // Returns how many lines the text that is being printed may take above the text that follows it. The printed text is
  // the header of a clause with the suite `body`, or, if `body` is empty, a simple statement. The result is a huge
  // number if the line of the following text is unknown.
  std::int32_t room(ast::Block body);

 private:
  bool all_fit_behind_colon(ast::Block body);
  bool has_line_above(const ast::Expr* test, ast::Block body, std::string_view keyword);
  std::int32_t line_of_code_above(std::int32_t line);
  std::int32_t keyword_line(ast::Block body, std::int32_t otherwise);

  Emitter& out_;
  const PrintOptions& options_;
  const Positions& positions_;
  const CodeObject* code_of_lines_ = nullptr;  // the code object whose lines are in `lines_of_code_`
  std::vector<std::int32_t> lines_of_code_;
};

}  // namespace depyf::print
