// Implements `--align lines`, which prints each statement on the line that it had in the source. With `--align lines`,
// the line numbers in tracebacks, breakpoints and coverage data of code whose source is lost are right for the printed
// source.
//
// Blank lines fill the gaps between statements, and simple statements that shared a line are joined by `;`. A
// statement that would reach into the lines of its successor is printed on one line. If a statement is printed below
// its source line, for example after a comment of the decompiler, the next gap between statements gets fewer blank
// lines, so that later statements are aligned again.
#include <algorithm>

#include "depyf/code_object.h"
#include "print/aligned.h"
#include "print/operands.h"
#include "print/statement.h"

namespace depyf::print {

using namespace ast;

namespace {

// Returns the operand of `expr` whose text ends last, for example `c` of `a and b or c`. Only operands of `and` and
// `or` are searched.
const Expr* last_operand(const Expr* expr) {
  while (auto* both = as<BoolOp>(expr)) {
    if (both->values.empty()) break;
    expr = both->values.back();
  }
  return expr;
}

}  // namespace

bool is_simple(const Stmt* stmt) {
  return !is<FunctionDef>(stmt) && !is<ClassDef>(stmt) && !is<For>(stmt) && !is<While>(stmt) && !is<If>(stmt) &&
         !is<With>(stmt) && !is<Match>(stmt) && !is<Try>(stmt) && !is<Comment>(stmt);
}

// Returns true if `test` starts on the line below its keyword. If the test starts on that line, the source had an
// opening bracket behind the keyword, and the test starts exactly one level of indentation further right than the
// keyword. For example, the first line of the source is `if (`, the second line is `    first and second`, and the
// third line is `):`.
bool SourceLines::has_line_above(const Expr* test, Block body, std::string_view keyword) {
  const Expr* leaf = first_leaf(test);
  // A test on a line of its own within brackets is indented by one level more than the keyword.
  if (!leaf || positions_.column(leaf) != std::int32_t(out_.indent() + 4)) return false;
  if (keyword.size() + 2 != 4) return true;
  // In `if (test`, the test starts four columns right of the keyword, like a test on a line of its own. Only a test on
  // a line of its own is followed by a line with the closing bracket, above the body.
  const Expr* last = last_operand(test);
  const std::int32_t end = std::max(positions_.end_line(last), last->line), line = first_source_line(body);
  return end > leaf->line && line > end + 1;
}

// Returns the greatest source line before `line` that an instruction of the code object has; -1 if no instruction has
// a line before `line`. If `line` is the first line in the body of a `try` statement or an endless loop, the result is
// the line of the keyword, for which the compiler keeps a NOP.
std::int32_t SourceLines::line_of_code_above(std::int32_t line) {
  if (!positions_.code || line < 0) return -1;
  // The sorted lines of a code object are cached, because each of its statements may need them.
  if (positions_.code != code_of_lines_) {
    code_of_lines_ = positions_.code;
    lines_of_code_.clear();
    for (const Position& position : positions_of(*positions_.code))
      if (position.line >= 0) lines_of_code_.push_back(position.line);
    std::ranges::sort(lines_of_code_);
  }
  auto end = std::ranges::lower_bound(lines_of_code_, line);
  return end == lines_of_code_.begin() ? -1 : *(end - 1);
}

// Returns the line of a keyword without an expression, such as `try:`, above `body`; -1 if the body has no known line.
// If no instruction has the line of the keyword, the keyword is assumed to stand `otherwise` lines above the body.
std::int32_t SourceLines::keyword_line(Block body, std::int32_t otherwise) {
  const std::int32_t line = first_source_line(body), above = line_of_code_above(line);
  if (line < 0) return -1;
  return above >= std::int32_t(out_.line()) ? above : line - otherwise;
}

// The line of a statement is taken from the first expression of its text if possible, because the instruction that ends
// the statement may have a later line.
std::int32_t SourceLines::source_line(const Stmt* stmt) {
  auto known = [](std::int32_t line, std::int32_t otherwise) { return line >= 0 ? line : otherwise; };
  // Returns the earlier of the line of `expr` and the line of `stmt`; an unknown line (-1) does not count.
  auto smaller = [&](const Expr* expr) {
    const std::int32_t line = first_line(expr);
    return line < 0 || (stmt->line >= 0 && stmt->line < line) ? stmt->line : line;
  };
  // `co_firstlineno` is the line of the first decorator, which is printed above the `def` or `class` line.
  if (auto* n = as<FunctionDef>(stmt)) return n->code ? n->code->firstlineno : stmt->line;
  if (auto* n = as<ClassDef>(stmt)) return n->code ? n->code->firstlineno : stmt->line;
  if (auto* n = as<Assign>(stmt)) return known(first_line(n->targets[0]), smaller(n->value));
  if (auto* n = as<AugAssign>(stmt)) return known(first_line(n->target), stmt->line);
  if (auto* n = as<AnnAssign>(stmt)) return known(first_line(n->target), smaller(n->annotation));
  if (auto* n = as<ExprStmt>(stmt)) return smaller(n->value);
  if (auto* n = as<Return>(stmt)) {
    // If the value of a `return` is in brackets and starts below the keyword, the statement has the line of the
    // keyword.
    const std::int32_t line = n->value ? first_line(n->value) : -1;
    return line < 0 || positions_.is_in_brackets(stmt, n->value) ? stmt->line : line;
  }
  if (auto* n = as<Raise>(stmt)) return n->exc ? smaller(n->exc) : stmt->line;
  if (auto* n = as<Assert>(stmt)) return smaller(n->test);
  if (auto* n = as<Delete>(stmt)) return n->targets.empty() ? stmt->line : smaller(n->targets[0]);
  if (auto* n = as<For>(stmt)) return known(first_line(n->target), smaller(n->iter));
  if (auto* n = as<If>(stmt)) {
    const std::int32_t line = known(first_line(n->test), stmt->line);
    return has_line_above(n->test, n->body, "if") ? line - 1 : line;
  }
  if (auto* n = as<While>(stmt)) {
    if (is<ConstantExpr>(n->test)) return keyword_line(n->body, 1);
    const std::int32_t line = known(first_line(n->test), stmt->line);
    return has_line_above(n->test, n->body, "while") ? line - 1 : line;
  }
  if (auto* n = as<With>(stmt); n && !n->items.empty()) {
    const std::int32_t line = first_line(n->items[0].context_expr);
    const bool has_own_line = n->items.size() > 1 && has_line_above(n->items[0].context_expr, n->body, "with");
    return line < 0 ? stmt->line : line - has_own_line;
  }
  if (auto* n = as<Match>(stmt)) return smaller(n->subject);
  if (auto* n = as<Try>(stmt)) return keyword_line(n->body, !n->body.empty() && is_simple(n->body[0]) ? 0 : 1);
  // The instruction of `break` or `continue` is a jump, whose line may be the line of the jump's target.
  if (is<Break>(stmt) || is<Continue>(stmt)) return -1;
  return stmt->line;
}

std::int32_t SourceLines::first_source_line(Block body) {
  for (const Stmt* stmt : body)
    if (!is<Comment>(stmt))
      if (const std::int32_t line = source_line(stmt); line >= 0) return line;
  return -1;
}

void SourceLines::pad_to(std::int32_t line) {
  // A damaged file may name any line number. Padding is left out if its blank lines alone could exceed the size limit
  // of the text.
  constexpr std::size_t bytes_of_line = 16;
  if (!options_.align || line < 0 || std::size_t(line) > options_.limit / bytes_of_line) return;
  for (std::int32_t at = std::int32_t(out_.line()); at < line; ++at) out_.end_line();
}

void SourceLines::pad_to_clause(Block body) {
  if (options_.align) pad_to(first_source_line(body) - 1);
}

bool SourceLines::has_no_room_below() {
  return options_.align && next_line >= 0 && next_line <= std::int32_t(out_.line()) + 1;
}

bool SourceLines::all_fit_behind_colon(Block body) {
  if (body.empty()) return false;
  const std::int32_t line = std::int32_t(out_.line());
  if (first_source_line(body) < 0 && !has_no_room_below()) return false;
  return std::ranges::all_of(body, [&](const Stmt* stmt) { return is_simple(stmt) && source_line(stmt) <= line; });
}

// Prints the suite of a clause that is followed by a clause with the body `following`. The suite may extend to the line
// above the header of the following clause.
void Statements::suite_before(Block body, Block following) {
  const std::int32_t after = lines_.next_line;
  if (options_.align)
    if (const std::int32_t line = lines_.first_source_line(following); line > 0) lines_.next_line = line - 1;
  suite(body);
  lines_.next_line = after;
}

std::int32_t SourceLines::room(Block body) {
  constexpr std::int32_t any = 1 << 30;
  std::int32_t next = body.empty() ? next_line : first_source_line(body);
  if (next < 0) return any;
  // If the first statement of the body is simple, it may stand behind the colon of the header, so the header may extend
  // to the line of this statement.
  if (!body.empty() && is_simple(body[0])) ++next;
  return std::max(next - std::int32_t(out_.begin_number()), 1);
}

// Prints `body` with each statement on its source line. A simple statement that stands behind a colon, or whose source
// line is above the line that is being printed, is joined to the previous simple statement by `;`.
void Statements::aligned_statements(Block body, bool behind_colon) {
  const std::int32_t after = lines_.next_line;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const std::int32_t next = lines_.first_source_line(body.subspan(i + 1));
    lines_.next_line = next >= 0 ? next : after;
    const bool follows_simple =
        i > 0 && is_simple(body[i]) && is_simple(body[i - 1]) && comment_of(body[i - 1]).empty();
    const std::int32_t line = lines_.source_line(body[i]);
    if (follows_simple && (behind_colon || (line >= 0 && line < std::int32_t(out_.line())))) {
      out_.reopen_line();
      out_.write("; ");
      continues_line_ = true;
    } else if (i == 0 && behind_colon) {
      continues_line_ = true;
    }
    statement(body[i]);
  }
  lines_.next_line = after;
}

}  // namespace depyf::print
