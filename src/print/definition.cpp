// Prints the definitions of functions and classes, with their decorators and docstrings.
#include <algorithm>
#include <span>
#include <utility>

#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "print/definition.h"
#include "print/docstring.h"
#include "print/literal.h"
#include "print/operands.h"
#include "print/statement.h"

namespace depyf::print {

using namespace ast;

namespace {

// Returns true if the docstring may be indented like the code around it. The compiler of 3.13 and later removes from a
// docstring the common indentation of all lines but the first. Indenting a docstring is harmless only if the compiler
// restores the exact text: some line must have no indentation, and no line may consist of blanks alone.
bool may_be_indented(std::string_view text) {
  bool some = false;
  if (text.starts_with(' ') || text.find('\t') != text.npos) return false;
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) {
    const std::size_t blanks = std::min(text.find_first_not_of(' ', at + 1), text.size()) - at - 1;
    const bool empty = at + 1 + blanks == text.size() || text[at + 1 + blanks] == '\n';
    if (empty && blanks > 0) return false;
    some = some || (!empty && blanks == 0);
  }
  return some || text.find_first_not_of('\n', std::min(text.find('\n'), text.size())) == text.npos;
}

// Returns the line on which `body` would start if it had no docstring; -1 if it is unknown.
std::int32_t body_line(Block body) {
  std::int32_t docstring_lines = 0;
  for (const Stmt* stmt : body) {
    // Comments of the decompiler and declarations produce no instructions, so they have no line.
    if (is<Comment>(stmt) || is<Global>(stmt) || is<Nonlocal>(stmt)) continue;
    auto* text = as<ExprStmt>(stmt);
    const Constant* constant = text ? constant_of(text->value, Constant::Kind::string) : nullptr;
    if (constant && stmt == body[0]) {
      docstring_lines = 1;
      for (std::size_t at = constant->text.find('\n'); at != std::string::npos; at = constant->text.find('\n', at + 1))
        ++docstring_lines;
      continue;
    }
    std::int32_t line = stmt->line;
    // A `try` may have no line of its own; its keyword stands on the line above its body.
    if (line < 0 && is<Try>(stmt)) line = body_line(as<Try>(stmt)->body) - 1;
    return line < 0 ? -1 : line - docstring_lines;
  }
  return -1;
}

// Returns the position of a `...` that stood behind the colon as the whole body; null if the source had no `...`
// there. The expression statement `...` leaves no instruction, but the implicit `return None` keeps the columns of the
// `...`.
const Position* ellipsis_of(const Emitter& out, const CodeObject* code) {
  constexpr int width_of_ellipsis = 3;
  const Position* last = nullptr;
  if (!code) return nullptr;
  for (const Position& position : code->positions)
    if (position.line >= 0 && position.column >= 0) last = &position;
  // If the position of the implicit `return None` has no width and is on the line of the `def`, the whole body stood on
  // that line, too.
  if (last && last->line == code->firstlineno && last->column == last->end_column) return last;
  if (!last || last->line != last->end_line || last->end_column - last->column != width_of_ellipsis) return nullptr;
  return last->column > std::int32_t(out.indent() + 4) ? last : nullptr;
}

// Returns the statement of a function whose body consists of `pass` or `...`, possibly behind a docstring. `pass` and
// `...` leave no instruction, but the implicit `return None` has their position. Returns an empty text if the statement
// is unknown.
std::string_view silent_statement(const CodeObject* code) {
  const Position* last = nullptr;
  if (!code) return {};
  for (const Position& position : code->positions)
    if (position.line >= 0 && position.column >= 0) last = &position;
  if (!last || last->line <= code->firstlineno || last->line != last->end_line) return {};
  for (std::string_view text : {"pass", "..."})
    if (last->end_column - last->column == std::int32_t(text.size())) return text;
  return {};
}

// Returns the source line of the first statement of the body; -1 if it is unknown. For a body `...` behind the colon,
// the result is the line below the `...`, because a body on the line of the header counts as one line below the
// header.
std::int32_t first_line_of_body(const Emitter& out, const FunctionDef& node) {
  if (!node.body.empty()) return body_line(node.body);
  const Position* ellipsis = ellipsis_of(out, node.code);
  return ellipsis ? ellipsis->line + 1 : -1;
}

}  // namespace

std::size_t Definitions::docstring(Block body) {
  const std::size_t at =
      std::size_t(std::ranges::find_if_not(body, [](const Stmt* each) { return is<Comment>(each); }) - body.begin());
  auto* stmt = at == body.size() ? nullptr : as<ExprStmt>(body[at]);
  auto* value = stmt ? as<ConstantExpr>(stmt->value) : nullptr;
  if (!value || value->value->kind != Constant::Kind::string) return 0;
  const std::string& text = value->value->text;
  const std::int32_t after = lines_.next_line;
  if (options_.align)
    if (const std::int32_t line = lines_.first_source_line(body.subspan(at + 1)); line >= 0) lines_.next_line = line;
  for (const Stmt* mark : body.first(at)) statements_.comment(as<Comment>(mark)->text);
  statements_.begin(body[at]);
  // With `--align lines`, a docstring keeps its line breaks only if it ends above the line of the next statement;
  // otherwise it is printed on one line with `\n` escapes.
  const bool has_room = !options_.align || lines_.next_line < 0 ||
                        std::int32_t(out_.line()) + std::ranges::count(text, '\n') < lines_.next_line;
  lines_.next_line = after;
  // The docstring of a module or class is loaded, so its position shows over how many lines it went.
  const Position* position = value->value->text.empty() || stmt->value->line < 0 ? nullptr : positions_.of(stmt->value);
  const std::ptrdiff_t more = position && position->line == stmt->value->line ? position->end_line - position->line : 0;
  const auto joined = std::size_t(std::max<std::ptrdiff_t>(more - std::ranges::count(text, '\n'), 0));
  if (!has_room) append_literal(out_.text(), *value->value);
  else
    append_docstring(out_.text(), text,
                     dialect_of(version_).trimmed_docstrings && may_be_indented(text) ? out_.indent() : 0, joined);
  out_.end_line();
  return at + 1;
}

bool Definitions::body_on_line(const CodeObject* code) {
  if (!ellipsis_of(out_, code)) return false;
  out_.write(" ...");
  statements_.break_lines();
  out_.end_line();
  return true;
}

// Prints the colon and the body. Columns are looked up in the code object `positions_.code`. While the header of the
// definition is printed, `positions_.code` must be the enclosing code object, which has the columns of the header.
// While the body is printed, it must be the code object of the definition.
void Definitions::body(const Stmt* stmt, const CodeObject* code, Block body) {
  const CodeObject* outer = std::exchange(positions_.code, code);
  out_.write(":");
  if (body.empty() && is<FunctionDef>(stmt) && body_on_line(code)) {
    positions_.code = outer;
    return;
  }
  positions_.code = outer;
  statements_.break_lines(body);
  positions_.code = code;
  if (body.empty() && lines_.has_no_room_below()) {
    out_.write(" pass");
    out_.end_line();
    positions_.code = outer;
    return;
  }
  if (lines_.fits_behind_colon(body)) {
    out_.write(" ");
    statements_.aligned_statements(body, true);
    positions_.code = outer;
    return;
  }
  out_.end_line();
  out_.deeper();
  const std::size_t documented = docstring(body);
  const Block rest = body.subspan(documented);
  // A class docstring is followed by a blank line, but a function docstring is not.
  statements_.statements(rest, !documented          ? Statements::Above::nothing
                               : is<ClassDef>(stmt) ? Statements::Above::heading
                                                    : Statements::Above::statement);
  const bool empty = std::ranges::all_of(rest, [](const Stmt* each) { return is<Comment>(each); });
  const std::string_view silent = empty && is<FunctionDef>(stmt) ? silent_statement(code) : std::string_view();
  if (empty && (!documented || !silent.empty())) statements_.pass_line(silent);
  out_.shallower();
  positions_.code = outer;
}

// Prints the decorators. `line` is the source line of the `def` or `class` below the decorators; -1 if it is unknown.
void Definitions::decorators(List<Expr*> decorators, std::int32_t line) {
  for (std::size_t i = 0; i < decorators.size(); ++i) {
    out_.write("@");
    exprs_.condition(decorators[i]);
    const std::int32_t next = i + 1 < decorators.size() ? first_line(decorators[i + 1]) : line;
    const std::int32_t after = std::exchange(lines_.next_line, next);
    statements_.break_lines();
    lines_.next_line = after;
    out_.end_line();
    lines_.pad_to(next);
    out_.begin_line();
    if (breaks_.last_line >= 0) ++breaks_.last_line;
  }
}

void Definitions::definition(const Stmt* stmt, const FunctionDef& node) {
  if (node.code) breaks_.last_line = node.code->firstlineno;
  decorators(node.decorators, node.keyword_line);
  out_.write(node.is_async ? "async def " : "def ");
  names_.name(node.name);
  exprs_.type_params(node.type_params);
  out_.write("(");
  // Parameters have no positions if all their defaults and annotations are constants. For parameters without positions,
  // the length of the header and its number of lines decide about the line breaks.
  const std::int32_t def_line = breaks_.last_line;
  const std::vector<std::size_t> places = exprs_.arguments(node.args, true, node.returns);
  out_.write(")");
  if (node.returns) out_.write(" -> "), exprs_.annotation_of(node.returns, exprs_.is_result_below(node.returns));
  if (!breaks_.may_break_header(places.size())) return body(stmt, node.code, node.body);
  if (breaks_.have_no_lines(places)) {
    const bool is_documented = !node.body.empty() && is<ExprStmt>(node.body[0]) &&
                               constant_of(as<ExprStmt>(node.body[0])->value, Constant::Kind::string);
    breaks_.place_parameters(places, def_line, node.is_one_line ? def_line + 1 : first_line_of_body(out_, node),
                             is_documented);
  } else if (breaks_.have_no_lines(std::span(places).first(places.size() - 1))) {
    breaks_.place_before_close(places, def_line);
  }
  body(stmt, node.code, node.body);
}

void Definitions::definition(const Stmt* stmt, const ClassDef& node) {
  if (node.code) breaks_.last_line = node.code->firstlineno;
  decorators(node.decorators, node.keyword_line);
  out_.write("class ");
  names_.name(node.name);
  exprs_.type_params(node.type_params);
  if (!node.bases.empty() || !node.keywords.empty()) exprs_.call_arguments(node.bases, node.keywords);
  // Names in a class body are mangled (`__x` becomes `_C__x`), so the printer of names must know the class.
  std::string around = names_.enter_class(node.name);
  body(stmt, node.code, node.body);
  names_.leave_class(std::move(around));
}

}  // namespace depyf::print
