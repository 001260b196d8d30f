// Prints the arguments of calls, the parameters of functions, and type parameters.
#include <algorithm>

#include "print/expression.h"
#include "print/operands.h"

namespace depyf::print {

using namespace ast;

namespace {
// Returns true if an annotation that the bytecode keeps as text (`from __future__ import annotations`) stood in
// brackets on the line below its parameter's name. `behind` is the number of stars in front of the name.
bool is_annotation_below(const Emitter& out, const Positions& positions, const Arg& arg, std::size_t behind) {
  constexpr std::size_t colon = 2;  // columns of `: `
  if (!is<Verbatim>(arg.annotation) || positions.end_line(arg.annotation) <= arg.annotation->line) return false;
  const std::size_t name = out.indent() + indentation;
  const auto column = std::size_t(positions.column(arg.annotation));
  return column == name + indentation && column != name + behind + arg.name.size() + colon;
}
}  // namespace

void Expressions::call_arguments(List<Expr*> args, List<Keyword> keywords, const Expr* whole) {
  // In `sum(x for x in y)` the parentheses of the generator are those of the call.
  auto* only = whole && args.size() == 1 && keywords.empty() ? as<ComprehensionExpr>(args[0]) : nullptr;
  if (only && only->kind == ComprehensionKind::generator) return comprehension(*only);
  out_.write("(");
  bool first = true;
  // Every argument is preceded by a place where the line may break: behind the opening bracket, or behind a comma.
  auto separate = [&](const Expr* next) {
    first ? breaks_.open(first_line(next)) : breaks_.comma(first_line(next));
    first = false;
  };
  for (const Expr* each : args) {
    separate(each);
    // Half of all arguments are names, so names are handled first: they need none of the tests for other expressions.
    if (auto* n = as<Name>(each)) {
      name(each, *n);
    } else if (auto* starred = as<Starred>(each)) {
      out_.write("*");
      part(starred->value, Level::test);
    } else {
      breaks_.perhaps_bracketed(each, [&] { condition(each); });
    }
  }
  for (const Keyword& each : keywords) {
    separate(each.value);
    if (each.arg.empty()) {
      out_.write("**");
      part(each.value, Level::test);
    } else if (names_.is_identifier(each.arg)) {
      out_.write(each.arg);
      out_.write("=");
      part(each.value, Level::test);
    } else {  // only `**{"a b": value}` can pass a keyword argument whose name is no identifier
      Constant key;
      key.kind = Constant::Kind::string;
      key.text = each.arg;
      out_.write("**{");
      constants_.constant(key);
      out_.write(": ");
      expr(each.value, Level::test);
      out_.write("}");
    }
  }
  if (!first) breaks_.close(whole);
  out_.write(")");
}

// Prints a list of type parameters, such as `[T: int, *Ts, **P = ...]`, of Python 3.12 and later. `stars` is indexed
// by the kind of the type parameter.
void Expressions::type_params(List<TypeParam> params) {
  if (params.empty()) return;
  static constexpr std::string_view stars[] = {"", "**", "*"};
  bool first = true;
  for (const TypeParam& param : params) {
    first ? (out_.write("["), breaks_.open()) : breaks_.comma();
    first = false;
    out_.write(stars[static_cast<int>(param.kind)]);
    names_.name(param.name);
    if (param.bound) out_.write(": "), expr(param.bound, Level::test);
    if (param.default_value) out_.write(" = "), expr(param.default_value, Level::test);
  }
  breaks_.close();
  out_.write("]");
}

bool Expressions::is_result_below(const Expr* annotation) const {
  return is<Verbatim>(annotation) && positions_.end_line(annotation) > annotation->line &&
         positions_.column(annotation) == std::int32_t(out_.indent() + indentation);
}

void Expressions::annotation_of(const Expr* annotation, bool is_below) {
  if (is_below) breaks_.optional_brackets(annotation->line, [&] { expr(annotation, Level::test); });
  else if (!constants_.divided_annotation(annotation)) part(annotation, Level::test);
}

void Expressions::argument(const Arg& arg, const Expr* default_value, bool annotated) {
  names_.name(arg.name);
  const bool annotation = annotated && arg.annotation;
  if (annotation) {
    out_.write(": ");
    annotation_of(arg.annotation, is_annotation_below(out_, positions_, arg, 0));
  }
  if (!default_value) return;
  out_.write(annotation ? " = " : "=");
  expr(default_value, Level::test);
}

std::vector<std::size_t> Expressions::arguments(const Arguments* args, bool annotated, const Expr* behind) {
  std::vector<std::size_t> places;
  if (!args) return places;
  bool first = true;
  auto next = [&](std::string_view prefix, const Arg* arg = nullptr, const Expr* default_value = nullptr) {
    std::int32_t line = annotated && arg && arg->annotation ? first_line(arg->annotation) : -1;
    if (line >= 0 && is_annotation_below(out_, positions_, *arg, prefix.size())) --line;
    if (line < 0 && default_value) line = first_line(default_value);
    breaks_.note_next(places);
    first ? breaks_.open(line) : breaks_.comma(line);
    first = false;
    out_.write(prefix);
  };
  const std::size_t positional = args->posonly.size() + args->args.size();
  constexpr std::size_t others = 5;  // `/`, `*`, `*args`, `**kwargs` and the closing bracket
  if (breaks_.is_marking()) places.reserve(positional + args->kwonly.size() + others);
  // Default values belong to the last positional parameters, as in Python's own `ast.arguments`.
  const std::size_t without_default = positional - std::min(positional, args->defaults.size());
  for (std::size_t i = 0; i < positional; ++i) {
    const bool posonly = i < args->posonly.size();
    const Arg& arg = posonly ? args->posonly[i] : args->args[i - args->posonly.size()];
    const Expr* default_value = i < without_default ? nullptr : args->defaults[i - without_default];
    next("", &arg, default_value);
    argument(arg, default_value, annotated);
    // The bare `/` ends the positional-only parameters, and the bare `*` starts the keyword-only parameters.
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
  breaks_.note_next(places);
  const std::int32_t line = behind ? first_line(behind) : -1;
  breaks_.mark(Mark::Kind::close, line >= 0 && is_result_below(behind) ? line - 1 : line);
  return places;
}

}  // namespace depyf::print
