// What the printer knows of the lines of the source, and where it says that a line may break.
#include <algorithm>

#include "ast/position.h"
#include "depyf/code_object.h"
#include "print/printer.h"

namespace depyf::print {

using namespace ast;

// The part that the text of `expr` starts with.
const Expr* Printer::first_leaf(const Expr* expr) {
  while (expr) {
    const Operand operand = leftmost(expr);
    if (operand.expr) expr = operand.expr;
    else if (auto* tuple = as<Tuple>(expr); tuple && !tuple->elts.empty() && expr->line < 0) expr = tuple->elts[0];
    else if (auto* starred = as<Starred>(expr)) expr = starred->value;
    else if (auto* named = as<NamedExpr>(expr)) expr = named->target;
    else break;
  }
  return expr;
}

// The line on which the text of `expr` starts; -1 if it is unknown.
std::int32_t Printer::first_line(const Expr* expr) {
  const Expr* leaf = first_leaf(expr);
  return leaf ? leaf->line : -1;
}

// True if a return had its value in brackets on the lines below. The column tells: a return out of a with statement may have the
// position of that, and its value then stands further in.
bool Printer::is_in_brackets(const Stmt* stmt, const Expr* value) const {
  constexpr int behind_return = 7;
  const Expr* leaf =
      first_leaf(is<Tuple>(value) && !as<Tuple>(value)->elts.empty() ? as<Tuple>(value)->elts[0] : value);
  if (!code_ || !leaf || leaf->line <= stmt->line) return false;
  const Position* outer = position_of(stmt);
  const Position* inner = position_in(*code_, leaf);
  return outer && inner && outer->end_line > inner->end_line && outer->column >= 0 && inner->column > outer->column &&
         inner->column < outer->column + behind_return;
}

// The same of what is behind the opening bracket, where `expr` is printed in brackets.
std::int32_t Printer::first_line_within(const Expr* expr) {
  auto* tuple = as<Tuple>(expr);
  return first_line(tuple && !tuple->elts.empty() ? tuple->elts[0] : expr);
}

// The line on which `expr` ends, by the positions of 3.11 and later; -1 if it is unknown.
std::int32_t Printer::end_line(const Expr* expr) const {
  const Position* position = code_ ? position_in(*code_, expr) : nullptr;
  return position ? position->end_line : -1;
}

// The column at which `expr` starts, by the positions of 3.11 and later; -1 if it is unknown.
std::int32_t Printer::column(const Expr* expr) const {
  const Position* position = code_ ? position_in(*code_, expr) : nullptr;
  return position ? position->column : -1;
}

// The position of the instruction that ends `stmt`; null if it has none.
const Position* Printer::position_of(const Stmt* stmt) const {
  constexpr std::size_t looked_at = 1000;  // from the last effect on
  if (!code_ || stmt->line < 0) return nullptr;
  const std::size_t unit = stmt->offset / 2, end = std::min(code_->positions.size(), unit + looked_at);
  for (std::size_t at = unit; at < end; ++at)
    if (code_->positions[at].line == stmt->line) return &code_->positions[at];
  return nullptr;
}

void Printer::mark(Mark::Kind kind, std::int32_t line, std::uint8_t priority, bool optional) {
  if (!marking_) return;
  marks_.push_back({out_.text().size(), kind, priority, optional, last_line_, line});
  if (line < 0) return;
  if (last_line_ >= 0 && line > last_line_) spread_ = true;
  last_line_ = std::max(last_line_, line);
}

// The closing bracket of `whole`; null: of brackets that have no position.
void Printer::close(const Expr* whole) {
  if (!marking_) return;
  const std::int32_t line = whole ? end_line(whole) : -1;
  mark(Mark::Kind::close, line);
}

void Printer::comma(std::int32_t line) {
  write(",");
  mark(Mark::Kind::separator, line, comma_priority);
  write(" ");
}

// True if the source may have had `expr` on several lines, within brackets that mean nothing.
bool Printer::may_need_lines(const Expr* expr) {
  return is<BoolOp>(expr) || is<BinOp>(expr) || is<Compare>(expr) || is<IfExp>(expr) || is<Attribute>(expr) ||
         is<Call>(expr) || is<Subscript>(expr) || is<UnaryExpr>(expr) || is<Await>(expr) || is<JoinedStr>(expr);
}

// Notes where the source had what is printed next, if the position of the instruction that made `expr` tells.
void Printer::anchor(const Expr* expr) {
  if (!marking_ || !code_ || expr->line < 0) return;
  const Position* position = position_in(*code_, expr);
  if (!position || position->column < 0) return;
  // Instructions that two names were joined into have the position of the first.
  const bool is_line = position->line == position->end_line;
  const auto has_width = [&](std::string_view name) {
    return is_line && position->end_column - position->column == std::int32_t(name.size());
  };
  auto* name = as<Name>(expr);
  auto* attribute = as<Attribute>(expr);
  auto* constant = as<ConstantExpr>(expr);
  auto* joined = as<JoinedStr>(expr);
  const bool is_known = name        ? has_width(name->id)
                        : attribute ? has_width(attribute->attr)  // from 3.12 on, below the line that it starts on
                        : constant  ? loads(expr, *constant->value)
                        : joined    ? !joined->is_percent
                                    : is<ListExpr>(expr) || is<SetExpr>(expr) || is<Dict>(expr) || is<Await>(expr);
  if (is_known) anchors_.push_back({out_.text().size(), position->line, position->column});
}

// The text reaches as far as `expr` starts, or, where it is a string, ends.
void Printer::reached(const Expr* expr) {
  // Some versions give a comprehension the position of a part of it.
  if (!marking_ || is<ComprehensionExpr>(expr)) return;
  last_line_ = std::max(last_line_, expr->line);
  auto* joined = as<JoinedStr>(expr);
  if (is<ConstantExpr>(expr) || (joined && !joined->is_percent)) {
    auto* n = as<ConstantExpr>(expr);
    if (!n || n->value->kind == Constant::Kind::string || n->value->kind == Constant::Kind::bytes)
      last_line_ = std::max(last_line_, end_line(expr));
  }
}

void Printer::value(const Expr* expr, Level loosest, bool starred_allowed) {
  starts_at(first_line(expr));
  if (is<ComprehensionExpr>(expr)) return bare(expr, loosest, starred_allowed);  // has brackets of its own
  mark(Mark::Kind::open, first_line_within(expr), 0, true);
  bare(expr, loosest, starred_allowed);
  const std::int32_t end = is<Tuple>(expr) ? end_line(expr) : -1;
  mark(Mark::Kind::close, end > last_line_ ? end : -1, 0, true);
}

// A statement that starts with an expression starts on its line, whatever the line of its own instruction is.
void Printer::starts_at(std::int32_t line) {
  if (marks_.empty() && line >= 0 && line < last_line_) last_line_ = line;
}

// Where the compiler kept no positions of parameters: the number of lines up to the body tells whether they stand on the line of
// the `def`, on one of their own, or on one each, as formatters lay them out. `parameters`: the marks before each and at the end.
void Printer::place_parameters(const std::vector<std::size_t>& parameters, std::int32_t def_line,
                               std::int32_t body_line) {
  constexpr std::size_t long_header = 79;  // shorter ones are seldom broken
  if (parameters.size() < 2 || def_line < 0 || body_line <= def_line) return;
  const std::int32_t lines = body_line - def_line;  // a blank line below a docstring or a comment may be among them
  const std::size_t columns = out_.text().size() - out_.line_begin();
  const std::int32_t count = std::int32_t(parameters.size()) - 1;
  const bool is_long = columns > long_header;
  const bool one_each = (lines == count + 2 || lines == count + 3) && (is_long || (count > 2 && lines == count + 2));
  const bool own_line = !one_each && is_long && (lines == 3 || lines == 4);
  if (!one_each && !own_line && lines > 2) return;
  std::int32_t before = def_line, line = def_line;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Mark& mark = marks_[parameters[i]];
    if (one_each || (own_line && (i == 0 || i + 1 == parameters.size()))) ++line;
    mark.before = before, mark.line = line;
    before = line;
  }
  spread_ = spread_ || line > def_line;
}

// The line of an `if` is that of its test, so only the test's other lines tell whether it is in brackets.
void Printer::clause_condition(const Expr* test) {
  optional_brackets(-1, [&] { condition(test); });
}

// How long a line may be that was line `line` of the source: where columns tell that the source had it in one piece, as long
// as it was.
std::size_t Printer::limit_of(std::int32_t line) const {
  if (!code_ || line < 0) return options_.width;
  std::int32_t columns = -1;
  for (const Position& position : code_->positions)
    if (position.end_line == line) columns = std::max(columns, position.end_column);
  constexpr std::size_t tolerated = 120;  // as other quotes and brackets make some lines longer than they were
  return columns < 0 ? options_.width : std::max({options_.width, tolerated, std::size_t(columns)});
}

// Breaks the lines of what was printed since the line began: a simple statement, or the header of `body`.
void Printer::break_lines(Block body) {
  const std::string& text = out_.text();
  const std::size_t begin = out_.line_begin();
  if (!marks_.empty() && (spread_ || (!options_.align && text.size() - begin > options_.width))) {
    for (Mark& each : marks_) each.at -= begin;
    for (Anchor& each : anchors_) each.at -= begin;
    auto limit = [&](std::int32_t line) { return options_.align ? std::string::npos : limit_of(line); };
    const std::int32_t first = marks_[0].before;
    std::string broken =
        with_breaks(std::string_view(text).substr(begin), marks_, anchors_, {out_.indent(), limit, first});
    if (!options_.align || std::ranges::count(broken, '\n') < room(body)) out_.rewrite(begin, broken);
  }
  marks_.clear();
  anchors_.clear();
  spread_ = false;
}

}  // namespace depyf::print
