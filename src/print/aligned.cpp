// `--align lines`: each statement on the line that it had in the source, so that tracebacks, breakpoints and coverage of code whose
// source is lost are right. Blank lines fill what is missing; simple statements that shared a line are joined by `;`; a statement
// whose lines would reach into those of the next one is printed on one line. A statement that comes too late all the same (below
// a mark, or where the decompiler prints in another order) takes lines from the next gap.
#include <algorithm>

#include "depyf/code_object.h"
#include "print/printer.h"

namespace depyf::print {

using namespace ast;

namespace {

bool is_simple(const Stmt* stmt) {
  return !is<FunctionDef>(stmt) && !is<ClassDef>(stmt) && !is<For>(stmt) && !is<While>(stmt) && !is<If>(stmt) &&
         !is<With>(stmt) && !is<Match>(stmt) && !is<Try>(stmt) && !is<Comment>(stmt);
}

// The part of an expression that ends last.
const Expr* last_operand(const Expr* expr) {
  while (auto* both = as<BoolOp>(expr)) {
    if (both->values.empty()) break;
    expr = both->values.back();
  }
  return expr;
}

}  // namespace

// True if the test stands below its keyword, which ended in an opening bracket.
bool Printer::has_line_above(const Expr* test, Block body, std::string_view keyword) {
  const Expr* leaf = first_leaf(test);
  if (!leaf || column(leaf) != std::int32_t(out_.indent() + 4)) return false;
  if (keyword.size() + 2 != 4) return true;
  // Behind `if (` it would stand in the same column. The closing bracket has a line of its own, too, if the opening one does.
  const Expr* last = last_operand(test);
  const std::int32_t end = std::max(end_line(last), last->line), line = first_source_line(body);
  return end > leaf->line && line > end + 1;
}

// The greatest line of the code below `line` that an instruction has. Above the body of a `try` or an endless loop that is the line
// of its keyword, of which the compiler keeps an instruction that does nothing. -1 if there is none.
std::int32_t Printer::line_of_code_above(std::int32_t line) {
  if (!code_ || line < 0) return -1;
  if (code_ != code_of_lines_) {
    code_of_lines_ = code_;
    lines_of_code_.clear();
    for (const Position& position : code_->positions)
      if (position.line >= 0) lines_of_code_.push_back(position.line);
    std::ranges::sort(lines_of_code_);
  }
  auto end = std::ranges::lower_bound(lines_of_code_, line);
  return end == lines_of_code_.begin() ? -1 : *(end - 1);
}

// The line of the keyword above `body`, which no expression follows: that of an instruction, or else `otherwise` lines above the
// body.
std::int32_t Printer::keyword_line(Block body, std::int32_t otherwise) {
  const std::int32_t line = first_source_line(body), above = line_of_code_above(line);
  if (line < 0) return -1;
  return above >= std::int32_t(out_.line()) ? above : line - otherwise;
}

// The line of the source that the statement starts on; -1 if it is unknown.
std::int32_t Printer::source_line(const Stmt* stmt) {
  auto known = [](std::int32_t line, std::int32_t otherwise) { return line >= 0 ? line : otherwise; };
  auto smaller = [&](const Expr* expr) {
    const std::int32_t line = first_line(expr);
    return line < 0 || (stmt->line >= 0 && stmt->line < line) ? stmt->line : line;
  };
  if (auto* n = as<FunctionDef>(stmt)) return n->code ? n->code->firstlineno : stmt->line;
  if (auto* n = as<ClassDef>(stmt)) return n->code ? n->code->firstlineno : stmt->line;
  if (auto* n = as<Assign>(stmt)) return known(first_line(n->targets[0]), smaller(n->value));
  if (auto* n = as<AugAssign>(stmt)) return known(first_line(n->target), stmt->line);
  if (auto* n = as<AnnAssign>(stmt)) return known(first_line(n->target), smaller(n->annotation));
  if (auto* n = as<ExprStmt>(stmt)) return smaller(n->value);
  if (auto* n = as<Return>(stmt)) {
    const std::int32_t line = n->value ? first_line(n->value) : -1;
    return line < 0 || is_in_brackets(stmt, n->value) ? stmt->line : line;
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
  // These are jumps, whose lines may be those of their targets.
  if (is<Break>(stmt) || is<Continue>(stmt)) return -1;
  return stmt->line;
}

// The line of the first statement that has one; -1 if none has.
std::int32_t Printer::first_source_line(Block body) {
  for (const Stmt* stmt : body)
    if (!is<Comment>(stmt))
      if (const std::int32_t line = source_line(stmt); line >= 0) return line;
  return -1;
}

// Ends lines until the next one has this number, if it has not come yet.
void Printer::pad_to(std::int32_t line) {
  // A damaged file may name any line. More lines than this have no room in the text.
  constexpr std::size_t bytes_of_line = 16;
  if (!options_.align || line < 0 || std::size_t(line) > options_.limit / bytes_of_line) return;
  for (std::int32_t at = std::int32_t(out_.line()); at < line; ++at) out_.end_line();
}

// The same for `else:` and its like, which have no line: above what is in them.
void Printer::pad_to_clause(Block body) {
  if (options_.align) pad_to(first_source_line(body) - 1);
}

// True if the next statement starts on the line below, or above that.
bool Printer::has_no_room_below() {
  return options_.align && next_line_ >= 0 && next_line_ <= std::int32_t(out_.line()) + 1;
}

// True if the body, whose header has just been written, stood on the same line.
bool Printer::fits_behind_colon(Block body) {
  if (!options_.align || body.empty()) return false;
  const std::int32_t line = std::int32_t(out_.line());
  if (first_source_line(body) < 0 && !has_no_room_below()) return false;
  return std::ranges::all_of(body, [&](const Stmt* stmt) { return is_simple(stmt) && source_line(stmt) <= line; });
}

// The suite of a clause that another one follows.
void Printer::suite_before(Block body, Block following) {
  const std::int32_t after = next_line_;
  if (options_.align)
    if (const std::int32_t line = first_source_line(following); line > 0) next_line_ = line - 1;
  suite(body);
  next_line_ = after;
}

// How many lines what is being printed may have: a header whose body is `body`, or with an empty body a simple statement.
std::int32_t Printer::room(Block body) {
  constexpr std::int32_t any = 1 << 30;
  std::int32_t next = body.empty() ? next_line_ : first_source_line(body);
  if (next < 0) return any;
  if (!body.empty() && is_simple(body[0])) ++next;  // may stand behind the colon
  return std::max(next - std::int32_t(out_.begin_number()), 1);
}

void Printer::aligned_statements(Block body, bool behind_colon) {
  const std::int32_t after = next_line_;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const std::int32_t next = first_source_line(body.subspan(i + 1));
    next_line_ = next >= 0 ? next : after;
    const bool follows_simple = i > 0 && is_simple(body[i]) && is_simple(body[i - 1]) && body[i - 1]->comment.empty();
    const std::int32_t line = source_line(body[i]);
    if (follows_simple && (behind_colon || (line >= 0 && line < std::int32_t(out_.line())))) {
      out_.reopen_line();
      write("; ");
      continues_line_ = true;
    } else if (i == 0 && behind_colon) {
      continues_line_ = true;
    }
    statement(body[i]);
  }
  next_line_ = after;
}

}  // namespace depyf::print
