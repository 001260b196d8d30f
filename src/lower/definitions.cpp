// Lowers functions, classes and lambdas to the sequences that lift/definitions.cpp lists.
#include <algorithm>
#include <span>

#include "decode/op.h"
#include "lower/annotations.h"
#include "lower/calls.h"
#include "lower/definitions.h"
#include "lower/expressions.h"
#include "lower/generics.h"
#include "lower/statements.h"

namespace depyf::lowering {
using namespace ast;

namespace {

// Pushes the defaults: a tuple for positional parameters, a dict for keyword-only parameters. Returns the flags for
// MAKE_FUNCTION.
int defaults(Unit& unit, const Arguments* args) {
  if (!args) return 0;
  int flags = 0;
  if (!args->defaults.empty()) {
    // As in CPython, a tuple of constants is a constant, so that all functions with the same defaults share it.
    if (std::ranges::all_of(args->defaults, [](const Expr* value) { return is<ConstantExpr>(value); })) {
      Constant tuple;
      tuple.kind = Constant::Kind::tuple;
      for (const Expr* value : args->defaults) tuple.items.push_back(*as<ConstantExpr>(value)->value);
      unit.code.load(std::move(tuple));
    } else {
      exprs(unit, args->defaults);
      unit.code.emit(Op::build_tuple_, static_cast<std::int32_t>(args->defaults.size()));
    }
    flags |= with_defaults;
  }
  Constant names;
  names.kind = Constant::Kind::tuple;
  for (std::size_t i = 0; i < args->kwonly.size() && i < args->kw_defaults.size(); ++i) {
    if (!args->kw_defaults[i]) continue;
    expr(unit, args->kw_defaults[i]);
    Constant& name = names.items.emplace_back();
    name.kind = Constant::Kind::string;
    name.text = unit.names.mangled(args->kwonly[i].name);
  }
  if (!names.items.empty()) {
    const auto count = static_cast<std::int32_t>(names.items.size());
    unit.code.load(std::move(names));
    unit.code.emit(Op::build_const_key_map_, count);
    flags |= with_kwdefaults;
  }
  return flags;
}

// Pushes a function, and ignores its type parameters. The defaults that `flags` announces are on the stack already.
void plain_function(Unit& unit, const FunctionDef& node, const Stmt* stmt, int flags) {
  if (!unit.dialect.deferred_annotations && annotations(unit, node)) flags |= with_annotations;
  Header header{
      .name = std::string(unit.names.spelled(node.name)), .qualname = {}, .origin = node.code, .args = node.args};
  header.qualname = unit.qualified(header.name);
  Block body = node.body;
  header.docstring = take_docstring(body);
  auto code = unit.nested(stmt, header, [&](Unit& within) {
    block(within, body);
    within.code.load_none();
    within.code.emit(Op::return_value_);
  });
  unit.make_function(code, flags);
  if (!unit.dialect.deferred_annotations || !annotate_function(unit, node)) return;
  constexpr std::int32_t annotate = 16;  // the flag of SET_FUNCTION_ATTRIBUTE for `__annotate__`
  unit.code.emit(Op::swap_, 2);
  unit.code.emit(Op::set_function_attribute_, annotate);
}

// Emits the body of a class. The compiler adds stores at the start of the body, such as that of `__module__`, and at
// its end, such as that of `__static_attributes__`.
void class_body(Unit& unit, const ClassDef& node, const Header& header) {
  unit.names.variable("__name__", Access::load);
  unit.names.variable("__module__", Access::store);
  unit.code.load_string(header.qualname);
  unit.names.variable("__qualname__", Access::store);
  if (unit.dialect.class_details) {
    unit.code.load_integer(0);
    unit.names.variable("__firstlineno__", Access::store);
  }
  if (!node.type_params.empty()) {
    unit.names.variable(".type_params", Access::load);
    unit.names.variable("__type_params__", Access::store);
  }
  // The cell __classdict__ contains the namespace of the class body, for functions that evaluate annotations or type
  // parameters.
  if (unit.names.scope->has_cell("__classdict__")) {
    unit.code.emit(Op::load_locals_);
    unit.code.emit(Op::store_deref_, unit.names.slot(unit.names.scope, "__classdict__"));
  }
  conditional_annotations(unit.code, unit.names);
  if (unit.names.scope->has_annotations && (!unit.dialect.deferred_annotations || unit.shared.annotations_are_text))
    unit.code.emit(Op::setup_annotations_);
  Block body = node.body;
  if (const Constant* text = take_docstring(body)) {
    unit.code.load(*text);
    unit.names.variable("__doc__", Access::store);
  }
  block(unit, body);
  deferred_annotations(unit);
  if (unit.dialect.class_details) {
    Constant attributes;
    attributes.kind = Constant::Kind::tuple;
    for (const std::string& attribute : unit.static_attributes) {
      Constant& text = attributes.items.emplace_back();
      text.kind = Constant::Kind::string;
      text.text = attribute;
    }
    unit.code.load(std::move(attributes));
    unit.names.variable("__static_attributes__", Access::store);
  }
  // type.__new__ receives the cells of `__classdict__` and `__class__` as `__classdictcell__` and `__classcell__`.
  if (unit.names.scope->has_cell("__classdict__")) {
    unit.code.emit(Op::load_closure_, unit.names.slot(unit.names.scope, "__classdict__"));
    unit.names.variable("__classdictcell__", Access::store);
  }
  if (unit.names.scope->has_cell("__class__")) {
    unit.code.emit(Op::load_closure_, unit.names.slot(unit.names.scope, "__class__"));
    unit.code.emit(Op::copy_, 1);
    unit.code.named(Op::store_name_, "__classcell__");
  } else {
    unit.code.load_none();
  }
  unit.code.emit(Op::return_value_);
}

// Pushes a class: LOAD_BUILD_CLASS, the body as a function, the name, the bases and keywords.
void plain_class(Unit& unit, const ClassDef& node, const Stmt* stmt) {
  unit.code.emit(Op::load_build_class_);
  Header header{
      .name = std::string(unit.names.spelled(node.name)), .qualname = {}, .origin = node.code, .args = nullptr};
  header.qualname = unit.qualified(header.name);
  auto code = unit.nested(stmt, header, [&](Unit& within) { class_body(within, node, header); });
  unit.make_function(code, 0);
  unit.code.load_string(header.name);
  if (node.type_params.empty()) return arguments(unit, 2, node.bases, node.keywords);
  // A class with type parameters has Generic[T] as an additional base.
  unit.names.variable(".type_params", Access::load);
  unit.code.emit(Op::intrinsic_1_, static_cast<std::int32_t>(Intrinsic1::subscript_generic));
  unit.names.variable(".generic_base", Access::store);
  std::vector<Expr*> bases(node.bases.begin(), node.bases.end());
  Expr generic_base{Name{".generic_base"}};
  bases.push_back(&generic_base);
  arguments(unit, 2, bases, node.keywords);
}

}  // namespace

// Comments may precede the docstring, because the decompiler puts them at the start of a body.
const Constant* take_docstring(Block& body) {
  std::size_t at = 0;
  while (at < body.size() && is<Comment>(body[at])) ++at;
  auto* first = at < body.size() ? as<ExprStmt>(body[at]) : nullptr;
  const Constant* text = first ? constant_of(first->value, Constant::Kind::string) : nullptr;
  if (text) body = body.subspan(at + 1);
  return text;
}

// Decorators are evaluated first, and defaults after them; the decorators are called from the last to the first.
void function_def(Unit& unit, const FunctionDef& node, const Stmt* stmt) {
  exprs(unit, node.decorators);
  const int flags = defaults(unit, node.args);
  if (node.type_params.empty()) {
    plain_function(unit, node, stmt, flags);
  } else {
    // The function that evaluates type parameters gets the defaults as arguments. If a generic function has defaults
    // only for keyword-only parameters, the parameter that receives these defaults is called `.defaults`, and not
    // `.kwdefaults`.
    static constexpr std::string_view default_parameters[] = {".defaults", ".kwdefaults"};
    const int arguments = ((flags & with_defaults) != 0) + ((flags & with_kwdefaults) != 0);
    generic(unit, &node.type_params, unit.names.spelled(node.name), arguments, [&](Unit& within) {
      type_params(within, node.type_params);
      for (std::string_view parameter : std::span(default_parameters).first(static_cast<std::size_t>(arguments)))
        within.names.variable(parameter, Access::load);
      plain_function(within, node, stmt, flags);
      within.code.emit(Op::swap_, 2);
      within.code.emit(Op::intrinsic_2_, static_cast<std::int32_t>(Intrinsic2::set_function_type_params));
    });
  }
  for (std::size_t i = 0; i < node.decorators.size(); ++i) unit.code.emit(Op::call_function_, 1);
  unit.names.name(node.name, Access::store);
}

// A lambda is a function whose body is a single return.
void lambda_expr(Unit& unit, const Lambda& node, const Expr* whole) {
  const int flags = defaults(unit, node.args);
  const Header header{.name = "<lambda>",
                      .qualname = unit.qualified("<lambda>"),
                      .origin = nullptr,
                      .args = node.args,
                      .is_lambda = true};
  auto code = unit.nested(whole, header, [&](Unit& within) {
    expr(within, node.body);
    within.code.emit(Op::return_value_);
  });
  unit.make_function(code, flags);
}

// A class with type parameters is created in the function that evaluates the type parameters.
void class_def(Unit& unit, const ClassDef& node, const Stmt* stmt) {
  exprs(unit, node.decorators);
  if (node.type_params.empty()) {
    plain_class(unit, node, stmt);
  } else {
    generic(unit, &node.type_params, unit.names.spelled(node.name), 0, [&](Unit& within) {
      type_params(within, node.type_params);
      within.names.variable(".type_params", Access::store);
      plain_class(within, node, stmt);
    });
  }
  for (std::size_t i = 0; i < node.decorators.size(); ++i) unit.code.emit(Op::call_function_, 1);
  unit.names.name(node.name, Access::store);
}

}  // namespace depyf::lowering
