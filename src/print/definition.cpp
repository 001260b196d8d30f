// Functions, classes, their arguments and docstrings.
#include <algorithm>
#include <utility>

#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "print/printer.h"

namespace depyf::print {

using namespace ast;

namespace {

// The compiler from 3.13 on takes the indentation from a docstring, that of the first line apart. True where adding it gives
// the same string back: some line has none, and no line is blank but for blanks.
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

}  // namespace

std::size_t Printer::docstring(Block body) {
  const std::size_t at =
      std::ranges::find_if_not(body, [](const Stmt* each) { return is<Comment>(each); }) - body.begin();
  auto* stmt = at == body.size() ? nullptr : as<ExprStmt>(body[at]);
  auto* value = stmt ? as<ConstantExpr>(stmt->value) : nullptr;
  if (!value || value->value->kind != Constant::Kind::string) return 0;
  const std::string& text = value->value->text;
  const std::int32_t after = next_line_;
  if (options_.align)
    if (const std::int32_t line = first_source_line(body.subspan(at + 1)); line >= 0) next_line_ = line;
  for (const Stmt* mark : body.first(at)) comment(as<Comment>(mark)->text);
  begin(body[at]);
  const auto lines = std::ranges::count(text, '\n') + 1;
  const bool has_room = !options_.align || next_line_ < 0 || std::int32_t(out_.line()) + lines <= next_line_;
  next_line_ = after;
  if (!has_room) append_literal(out_.text(), *value->value);
  else
    append_docstring(out_.text(), text,
                     dialect_of(version_).trimmed_docstrings && may_be_indented(text) ? out_.indent() : 0);
  out_.end_line();
  return at + 1;
}

// The line that would be the first of the body if it had no docstring; -1 if it is unknown.
std::int32_t Printer::body_line(Block body) {
  std::int32_t docstring_lines = 0;
  for (const Stmt* stmt : body) {
    if (is<Comment>(stmt) || is<Global>(stmt) || is<Nonlocal>(stmt)) continue;
    auto* text = as<ExprStmt>(stmt);
    const Constant* constant = text ? constant_of(text->value, Constant::Kind::string) : nullptr;
    if (constant && stmt == body[0]) {
      docstring_lines = std::int32_t(std::ranges::count(constant->text, '\n')) + 1;
      continue;
    }
    std::int32_t line = stmt->line;
    if (line < 0 && is<Try>(stmt)) line = body_line(as<Try>(stmt)->body) - 1;
    return line < 0 ? -1 : line - docstring_lines;
  }
  return -1;
}

// Where the `...` of an empty body was that stood behind the colon, by the columns that the compiler keeps of it; null: there
// was none.
const Position* Printer::ellipsis_of(const CodeObject* code) const {
  constexpr int width_of_ellipsis = 3;
  const Position* last = nullptr;
  if (!code) return nullptr;
  for (const Position& position : code->positions)
    if (position.line >= 0 && position.column >= 0) last = &position;
  if (last && last->line == code->firstlineno && last->column == last->end_column) return last;
  if (!last || last->line != last->end_line || last->end_column - last->column != width_of_ellipsis) return nullptr;
  return last->column > std::int32_t(out_.indent() + 4) ? last : nullptr;
}

bool Printer::body_on_line(const CodeObject* code) {
  if (!ellipsis_of(code)) return false;
  write(" ...");
  break_lines();
  out_.end_line();
  return true;
}

void Printer::body(const Stmt* stmt, const CodeObject* code, Block body) {
  const CodeObject* outer = std::exchange(code_, code);
  write(":");
  if (body.empty() && is<FunctionDef>(stmt) && body_on_line(code)) {
    code_ = outer;
    return;
  }
  code_ = outer;  // its columns are those of the header
  break_lines(body);
  code_ = code;
  if (body.empty() && has_no_room_below()) {
    write(" pass");
    out_.end_line();
    code_ = outer;
    return;
  }
  if (fits_behind_colon(body)) {
    write(" ");
    aligned_statements(body, true);
    code_ = outer;
    return;
  }
  out_.end_line();
  out_.deeper();
  const std::size_t documented = docstring(body);
  const Block rest = body.subspan(documented);
  statements(rest, !documented ? Above::nothing : is<ClassDef>(stmt) ? Above::heading : Above::statement);
  const bool empty = std::ranges::all_of(rest, [](const Stmt* each) { return is<Comment>(each); });
  if (empty && !documented) pass_line();
  out_.shallower();
  code_ = outer;
}

// `line`: of the keyword below them; -1: unknown.
void Printer::decorators(List<Expr*> decorators, std::int32_t line) {
  for (std::size_t i = 0; i < decorators.size(); ++i) {
    write("@");
    condition(decorators[i]);
    const std::int32_t next = i + 1 < decorators.size() ? first_line(decorators[i + 1]) : line;
    const std::int32_t after = std::exchange(next_line_, next);
    break_lines();
    next_line_ = after;
    out_.end_line();
    pad_to(next);
    out_.begin_line();
    if (last_line_ >= 0) ++last_line_;
  }
}

std::int32_t Printer::first_line_of_body(const FunctionDef& node) const {
  if (!node.body.empty()) return body_line(node.body);
  const Position* ellipsis = ellipsis_of(node.code);
  return ellipsis ? ellipsis->line + 1 : -1;
}

void Printer::definition(const Stmt* stmt, const FunctionDef& node) {
  if (node.code) last_line_ = node.code->firstlineno;
  decorators(node.decorators, node.keyword_line);
  write(node.is_async ? "async def " : "def ");
  name(node.name);
  type_params(node.type_params);
  write("(");
  const std::int32_t def_line = last_line_;
  const std::vector<std::size_t> places = arguments(node.args, true, node.returns);
  write(")");
  if (node.returns) write(" -> "), part(node.returns, Level::test);
  if (std::ranges::all_of(places, [&](std::size_t place) { return marks_[place].line < 0; }))
    place_parameters(places, def_line, first_line_of_body(node));
  body(stmt, node.code, node.body);
}

void Printer::definition(const Stmt* stmt, const ClassDef& node) {
  if (node.code) last_line_ = node.code->firstlineno;
  decorators(node.decorators, node.keyword_line);
  write("class ");
  name(node.name);
  type_params(node.type_params);
  if (!node.bases.empty() || !node.keywords.empty()) call_arguments(node.bases, node.keywords);
  const std::size_t stripped = std::min(node.name.find_first_not_of('_'), node.name.size());
  const std::string around = std::exchange(private_, "_" + std::string(node.name.substr(stripped)) + "__");
  if (stripped == node.name.size()) private_.clear();
  body(stmt, node.code, node.body);
  private_ = around;
}

void Printer::type_params(List<TypeParam> params) {
  if (params.empty()) return;
  static constexpr std::string_view stars[] = {"", "**", "*"};
  bool first = true;
  for (const TypeParam& param : params) {
    first ? (write("["), open()) : comma();
    first = false;
    write(stars[static_cast<int>(param.kind)]);
    name(param.name);
    if (param.bound) write(": "), expr(param.bound, Level::test);
    if (param.default_value) write(" = "), expr(param.default_value, Level::test);
  }
  close();
  write("]");
}

void Printer::argument(const Arg& arg, const Expr* default_value, bool annotated) {
  name(arg.name);
  const bool annotation = annotated && arg.annotation;
  if (annotation) write(": "), part(arg.annotation, Level::test);
  if (!default_value) return;
  write(annotation ? " = " : "=");
  expr(default_value, Level::test);
}

std::vector<std::size_t> Printer::arguments(const Arguments* args, bool annotated, const Expr* behind) {
  std::vector<std::size_t> places;
  if (!args) return places;
  bool first = true;
  auto next = [&](std::string_view prefix, const Arg* arg = nullptr, const Expr* default_value = nullptr) {
    // Of constants the compiler makes one tuple, whose items have no positions.
    const Expr* known = annotated && arg && arg->annotation ? arg->annotation : default_value;
    const std::int32_t line = known && !is<ConstantExpr>(known) ? first_line(known) : -1;
    if (marking_) places.push_back(marks_.size());
    first ? open(line) : comma(line);
    first = false;
    write(prefix);
  };
  const std::size_t positional = args->posonly.size() + args->args.size();
  const std::size_t without_default = positional - std::min(positional, args->defaults.size());
  for (std::size_t i = 0; i < positional; ++i) {
    const bool posonly = i < args->posonly.size();
    const Arg& arg = posonly ? args->posonly[i] : args->args[i - args->posonly.size()];
    const Expr* default_value = i < without_default ? nullptr : args->defaults[i - without_default];
    next("", &arg, default_value);
    argument(arg, default_value, annotated);
    if (i + 1 == args->posonly.size()) next("/");
  }
  if (!args->vararg.name.empty()) next("*", &args->vararg), argument(args->vararg, nullptr, annotated);
  else if (!args->kwonly.empty()) next("*");
  for (std::size_t i = 0; i < args->kwonly.size(); ++i) {
    const Expr* default_value = i < args->kw_defaults.size() ? args->kw_defaults[i] : nullptr;
    next("", &args->kwonly[i], default_value);
    argument(args->kwonly[i], default_value, annotated);
  }
  if (!args->kwarg.name.empty()) next("**", &args->kwarg), argument(args->kwarg, nullptr, annotated);
  if (first) return places;
  if (marking_) places.push_back(marks_.size());
  mark(Mark::Kind::close, behind && !is<ConstantExpr>(behind) ? first_line(behind) : -1);
  return places;
}

}  // namespace depyf::print
