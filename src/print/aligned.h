// The lines that statements had in the source; see aligned.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "print/sheet.h"

namespace depyf::print {

// True for a statement that may share a line with others.
bool is_simple(const ast::Stmt* stmt);

class SourceLines {
 public:
  explicit SourceLines(Sheet& sheet) : out_(sheet.out), options_(sheet.options), positions_(sheet.positions) {}

  std::int32_t next_line = -1;  // of the source: where what follows the statement starts; -1: unknown

  // The line of the source that the statement starts on; -1 if it is unknown.
  std::int32_t source_line(const ast::Stmt* stmt);
  // The line of the first statement that has one; -1 if none has.
  std::int32_t first_source_line(ast::Block body);
  // Ends lines until the next one has this number, if it has not come yet.
  void pad_to(std::int32_t line);
  // The same for `else:` and its like, which have no line: above what is in them.
  void pad_to_clause(ast::Block body);
  // True if the next statement starts on the line below, or above that.
  bool has_no_room_below();
  // True if the body, whose header has just been written, stood on the same line.
  bool fits_behind_colon(ast::Block body);
  // How many lines what is being printed may have: a header whose body is `body`, or with an empty body a simple statement.
  std::int32_t room(ast::Block body);

 private:
  bool has_line_above(const ast::Expr* test, ast::Block body, std::string_view keyword);
  std::int32_t line_of_code_above(std::int32_t line);
  std::int32_t keyword_line(ast::Block body, std::int32_t otherwise);

  Emitter& out_;
  const PrintOptions& options_;
  const Positions& positions_;
  const CodeObject* code_of_lines_ = nullptr;  // whose are in `lines_of_code_`
  std::vector<std::int32_t> lines_of_code_;
};

}  // namespace depyf::print
