// Functions, classes, their arguments and docstrings.
#include <algorithm>
#include <utility>

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

bool Printer::docstring(Block body) {
  auto* stmt = body.empty() ? nullptr : as<ExprStmt>(body[0]);
  auto* value = stmt ? as<ConstantExpr>(stmt->value) : nullptr;
  if (!value || value->value->kind != Constant::Kind::string) return false;
  const std::string& text = value->value->text;
  begin(body[0]);
  append_docstring(out_.text(), text, version_ >= Version{3, 13} && may_be_indented(text) ? out_.indent() : 0);
  out_.end_line();
  return true;
}

void Printer::body(const Stmt* stmt, const CodeObject* code, Block body) {
  const CodeObject* outer = std::exchange(code_, code);
  write(":");
  out_.end_line();
  out_.deeper();
  const bool documented = docstring(body);
  const Block rest = documented ? body.subspan(1) : body;
  statements(rest, !documented ? Above::nothing : is<ClassDef>(stmt) ? Above::heading : Above::statement);
  const bool empty = std::ranges::all_of(rest, [](const Stmt* each) { return is<Comment>(each); });
  if (empty && !documented) pass_line();
  out_.shallower();
  code_ = outer;
}

void Printer::decorators(List<Expr*> decorators) {
  for (const Expr* each : decorators) {
    write("@");
    condition(each);
    out_.end_line();
    out_.begin_line();
  }
}

void Printer::definition(const Stmt* stmt, const FunctionDef& node) {
  decorators(node.decorators);
  write(node.is_async ? "async def " : "def ");
  name(node.name);
  type_params(node.type_params);
  write("(");
  arguments(node.args, true);
  write(")");
  if (node.returns) write(" -> "), expr(node.returns, Level::test);
  body(stmt, node.code, node.body);
}

void Printer::definition(const Stmt* stmt, const ClassDef& node) {
  decorators(node.decorators);
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
    write(first ? "[" : ", ");
    first = false;
    write(stars[static_cast<int>(param.kind)]);
    name(param.name);
    if (param.bound) write(": "), expr(param.bound, Level::test);
    if (param.default_value) write(" = "), expr(param.default_value, Level::test);
  }
  write("]");
}

void Printer::argument(const Arg& arg, const Expr* default_value, bool annotated) {
  name(arg.name);
  const bool annotation = annotated && arg.annotation;
  if (annotation) write(": "), expr(arg.annotation, Level::test);
  if (!default_value) return;
  write(annotation ? " = " : "=");
  expr(default_value, Level::test);
}

void Printer::arguments(const Arguments* args, bool annotated) {
  if (!args) return;
  bool first = true;
  auto next = [&](std::string_view prefix) {
    if (!first) write(", ");
    first = false;
    write(prefix);
  };
  const std::size_t positional = args->posonly.size() + args->args.size();
  const std::size_t without_default = positional - std::min(positional, args->defaults.size());
  for (std::size_t i = 0; i < positional; ++i) {
    const bool posonly = i < args->posonly.size();
    next("");
    argument(posonly ? args->posonly[i] : args->args[i - args->posonly.size()],
             i < without_default ? nullptr : args->defaults[i - without_default], annotated);
    if (i + 1 == args->posonly.size()) next("/");
  }
  if (!args->vararg.name.empty()) next("*"), argument(args->vararg, nullptr, annotated);
  else if (!args->kwonly.empty()) next("*");
  for (std::size_t i = 0; i < args->kwonly.size(); ++i) {
    next("");
    argument(args->kwonly[i], i < args->kw_defaults.size() ? args->kw_defaults[i] : nullptr, annotated);
  }
  if (!args->kwarg.name.empty()) next("**"), argument(args->kwarg, nullptr, annotated);
}

}  // namespace depyf::print
