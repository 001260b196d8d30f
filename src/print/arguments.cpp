// Prints the arguments of calls, the parameters of functions, and type parameters.
#include <algorithm>

#include "print/expression.h"
#include "print/operands.h"
#include "print/unicode.h"

namespace depyf::print {

using namespace ast;

void Expressions::call_arguments(List<Expr*> args, List<Keyword> keywords, const Expr* whole) {
  out_.write("(");
  bool first = true;
  // Every argument is preceded by a place where the line may break: behind the opening bracket, or behind a comma.
  auto separate = [&](const Expr* next) {
    first ? breaks_.open(first_line(next)) : breaks_.comma(first_line(next));
    first = false;
  };
  for (const Expr* each : args) {
    separate(each);
    if (auto* starred = as<Starred>(each)) {
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
    } else if (is_identifier(each.arg)) {
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

// Prints `[T: int, *Ts, **P = ...]` of Python 3.12 and later. `stars` is indexed by the kind of the type parameter.
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

void Expressions::argument(const Arg& arg, const Expr* default_value, bool annotated) {
  names_.name(arg.name);
  const bool annotation = annotated && arg.annotation;
  if (annotation) out_.write(": "), part(arg.annotation, Level::test);
  if (!default_value) return;
  out_.write(annotation ? " = " : "=");
  expr(default_value, Level::test);
}

std::vector<std::size_t> Expressions::arguments(const Arguments* args, bool annotated, const Expr* behind) {
  std::vector<std::size_t> places;
  if (!args) return places;
  bool first = true;
  auto next = [&](std::string_view prefix, const Arg* arg = nullptr, const Expr* default_value = nullptr) {
    // The compiler folds default values that are constants into one tuple, so such constants have no positions of their
    // own.
    const Expr* known = annotated && arg && arg->annotation ? arg->annotation : default_value;
    const std::int32_t line = known && !is<ConstantExpr>(known) ? first_line(known) : -1;
    breaks_.note_next(places);
    first ? breaks_.open(line) : breaks_.comma(line);
    first = false;
    out_.write(prefix);
  };
  const std::size_t positional = args->posonly.size() + args->args.size();
  // Default values belong to the last positional parameters, as in Python's own `ast.arguments`.
  const std::size_t without_default = positional - std::min(positional, args->defaults.size());
  for (std::size_t i = 0; i < positional; ++i) {
    const bool posonly = i < args->posonly.size();
    const Arg& arg = posonly ? args->posonly[i] : args->args[i - args->posonly.size()];
    const Expr* default_value = i < without_default ? nullptr : args->defaults[i - without_default];
    next("", &arg, default_value);
    argument(arg, default_value, annotated);
    // The bare `/` ends the parameters that only positions can fill, and the bare `*` starts those that only names can
    // fill.
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
  breaks_.mark(Mark::Kind::close, behind && !is<ConstantExpr>(behind) ? first_line(behind) : -1);
  return places;
}

}  // namespace depyf::print
