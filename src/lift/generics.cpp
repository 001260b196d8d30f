// Lifts type parameters and type aliases (3.12 and later, PEP 695 and PEP 696). For a definition with type parameters,
// the compiler generates a function that evaluates the type parameters and returns the definition, and calls this
// generated function at once. Type parameters are variables of the generated function.
//
//   `def f[T](a=1)` is `(1,); <code "<generic parameters of f>">; MAKE_FUNCTION; SWAP 2; CALL`.
//   The generated function for `def f[T](a=1)` is `'T'; CALL_INTRINSIC_1 TYPEVAR; COPY 1; STORE T; BUILD_TUPLE 1;
//   LOAD .defaults; <code f>; MAKE_FUNCTION; SWAP 2; CALL_INTRINSIC_2 SET_FUNCTION_TYPE_PARAMS; RETURN_VALUE`.
//   Behind the type parameters, the generated function for `class C[T](B)` is `BUILD_TUPLE 1; STORE .type_params;
//   LOAD_BUILD_CLASS; <code C>; 'C'; LOAD .type_params; CALL_INTRINSIC_1 SUBSCRIPT_GENERIC; STORE .generic_base; B;
//   LOAD .generic_base; CALL`.
//   The generated function for `type X[T] = v` starts with `'X'`, evaluates the type parameters, and continues with
//   `BUILD_TUPLE 1; <code X>; MAKE_FUNCTION; BUILD_TUPLE 3; CALL_INTRINSIC_1 TYPEALIAS`.
//   `type X = v` is `'X'; None; <code X>; MAKE_FUNCTION; BUILD_TUPLE 3; CALL_INTRINSIC_1 TYPEALIAS; STORE X`.
//
// For each bound, constraint and default of a type parameter, and for the value of a type alias, the compiler generates
// a function that returns the bound, constraint, default or value.
#include <algorithm>

#include "decode/decode.h"
#include "decode/op.h"
#include "depyf/code_object.h"
#include "flow/cfg.h"
#include "flow/pair_iterators.h"
#include "lift/definitions.h"
#include "lift/generics.h"
#include "lift/lifter.h"
#include "lift/positions.h"
#include "lift/restarts.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

namespace {

// Returns the Internal node of `expr` if it is a marker of the kind `marker`; null otherwise.
const Internal* marked(const Expr* expr, Marker marker) {
  auto* internal = as<Internal>(expr);
  return internal && internal->marker == marker ? internal : nullptr;
}

// True if `expr` contains markers that only the simulation which created them can replace.
bool holds_unfinished(Expr* expr) {
  bool unfinished = false;
  Table<Expr*> todo{expr};
  while (!todo.empty() && !unfinished) {
    Expr* next = todo.back();
    todo.pop_back();
    if (auto* internal = as<Internal>(next))
      unfinished = internal->marker == Marker::copied || internal->marker == Marker::chain ||
                   internal->marker == Marker::unpacked || internal->marker == Marker::item;
    for_each_child(next, [&](Expr*& child) { todo.push_back(child); });
  }
  return unfinished;
}

bool is_named(const Expr* expr, std::string_view id) {
  auto* name = as<Name>(expr);
  return name && name->id == id;
}

// Returns the type parameters that the tuple display `tuple` contains.
List<TypeParam> type_params_of(Context& context, const Cursor& cursor, const Expr* tuple) {
  Table<TypeParam> params;
  auto* display = as<Tuple>(tuple);
  if (!display) cursor.fail("type parameters are no tuple");
  for (const Expr* each : display->elts) {
    auto* param = marked(each, Marker::type_param);
    if (!param) cursor.fail("a type parameter of another shape");
    params.push_back(context.type_params[param->index]);
  }
  return context.arena.copy(params);
}

// Returns the value that `function`, which has no parameters, returns. If the body of `function` is `(t,) = v; return
// t`, the returned value is `*v`.
Expr* lazy_value(Context& context, const Cursor& cursor, const Expr* function) {
  auto* internal = marked(function, Marker::function);
  if (!internal) cursor.fail("a type parameter without its function");
  const FunctionValue value_function = context.functions[internal->index];
  Block block = build(context, value_function).block;
  // The function has no docstring. Up to 3.13, its first constant is taken for one if it is a string.
  if (has_docstring_constant(*value_function.code)) block = block.subspan(1);
  block = without_format_test(block);
  if (block.size() == 2) {
    auto* unpacked = as<Assign>(block[0]);
    auto* leave = as<Return>(block[1]);
    auto* targets = unpacked && unpacked->targets.size() == 1 ? as<Tuple>(unpacked->targets[0]) : nullptr;
    auto* name = targets && targets->elts.size() == 1 ? as<Name>(targets->elts[0]) : nullptr;
    if (name && leave && is_named(leave->value, name->id)) {
      forget_columns(unpacked->value);
      return cursor.make(Starred{unpacked->value});
    }
  }
  Expr* value = as_expression(context, block, false);
  if (!value) cursor.fail("a type parameter's value is no expression");
  forget_columns(value);
  return value;
}

}  // namespace

bool is_generic(const Context& context, const Expr* expr) {
  auto* function = marked(expr, Marker::function);
  return function && evaluates_type_parameters(*context.functions[function->index].code);
}

// The instructions `LOAD_CLOSURE; BUILD_TUPLE`, which load the closure of the function, may precede the load of the
// function's code.
bool before_generic(const Cursor& cursor, int at) {
  if (at >= cursor.end || cursor.code[at].op != Op::load_const_) {
    // Skip the instructions that load the closure of the function.
    while (at < cursor.end && cursor.code[at].op == Op::load_closure_) at = cursor.skip(at + 1);
    if (at >= cursor.end || cursor.code[at].op != Op::build_tuple_) return false;
    at = cursor.skip(at + 1);
  }
  if (at >= cursor.end || cursor.code[at].op != Op::load_const_) return false;
  const Constant& constant = cursor.decoded.constant(cursor.code[at].arg);
  return constant.code && evaluates_type_parameters(*constant.code);
}

// The intrinsic functions of type parameters push `ast::Internal` markers. The lifting of the definition or type alias
// turns the markers into type parameters.
bool run_generics(Simulation& sim, const Instruction& instruction) {
  auto text = [&](const Expr* expr) -> std::string_view {
    auto* constant = as<ConstantExpr>(expr);
    if (!constant || constant->value->kind != Constant::Kind::string)
      sim.cursor.fail("a type parameter without a name");
    return constant->value->text;
  };
  auto param = [&](TypeParam::Kind kind, const Expr* name, Expr* bound) {
    sim.context.type_params.push_back({kind, text(name), bound, nullptr});
    sim.push(Internal{Marker::type_param, int(sim.context.type_params.size()) - 1, nullptr});
  };
  // Python source cannot name the variables `.type_params` and `.generic_base`, so their loads and stores are simulated
  // here.
  if (sim.generics.is_open && (instruction.op == Op::store_fast_ || instruction.op == Op::store_deref_)) {
    if (sim.cursor.decoded.localsplus[instruction.arg] != ".type_params") return false;
    sim.generics.class_params = sim.pop();
    return true;
  }
  if (sim.generics.is_open && (instruction.op == Op::load_fast_ || instruction.op == Op::load_deref_)) {
    std::string_view name = sim.cursor.decoded.localsplus[instruction.arg];
    if (name == ".generic_base") return sim.push(Internal{Marker::generic_base, 0, nullptr}), true;
    if (name == ".type_params" && sim.generics.class_params) return sim.push(sim.generics.class_params->node), true;
    return false;
  }
  if (instruction.op == Op::intrinsic_1_) switch (Intrinsic1(instruction.arg)) {
      case Intrinsic1::typevar: param(TypeParam::Kind::type_var, sim.pop(), nullptr); return true;
      case Intrinsic1::paramspec: param(TypeParam::Kind::param_spec, sim.pop(), nullptr); return true;
      case Intrinsic1::typevartuple: param(TypeParam::Kind::type_var_tuple, sim.pop(), nullptr); return true;
      case Intrinsic1::subscript_generic:
        sim.pop();
        sim.push(Internal{Marker::generic_base, 0, nullptr});
        return true;
      case Intrinsic1::typealias: {
        Expr* value = sim.pop();
        auto* parts = as<Tuple>(value);
        if (!parts || parts->elts.size() != 3) sim.cursor.fail("a type alias of another shape");
        const bool plain = is<ConstantExpr>(parts->elts[1]);
        TypeAlias alias{text(parts->elts[0]),
                        plain ? List<TypeParam>{} : type_params_of(sim.context, sim.cursor, parts->elts[1]),
                        parts->elts[2]};
        // The value of the type alias is decompiled here, because its code is a constant of the current code object,
        // even if another code object stores the alias.
        alias.value = lazy_value(sim.context, sim.cursor, parts->elts[2]);
        sim.context.type_aliases.push_back(alias);
        sim.push(Internal{Marker::type_alias, int(sim.context.type_aliases.size()) - 1, nullptr});
        return true;
      }
      case Intrinsic1::invalid:
      case Intrinsic1::print:
      case Intrinsic1::import_star:
      case Intrinsic1::stopiteration_error:
      case Intrinsic1::async_gen_wrap:
      case Intrinsic1::unary_positive:
      case Intrinsic1::list_to_tuple: return false;
    }
  if (instruction.op != Op::intrinsic_2_) return false;
  switch (Intrinsic2(instruction.arg)) {
    case Intrinsic2::typevar_with_bound:
    case Intrinsic2::typevar_with_constraints: {
      Expr *bound = lazy_value(sim.context, sim.cursor, sim.pop()), *name = sim.pop();
      param(TypeParam::Kind::type_var, name, bound);
      return true;
    }
    case Intrinsic2::set_typeparam_default: {
      Expr* value = lazy_value(sim.context, sim.cursor, sim.pop());
      auto* internal = marked(sim.peek(1).expr, Marker::type_param);
      if (!internal) sim.cursor.fail("a default of no type parameter");
      sim.context.type_params[internal->index].default_value = value;
      return true;
    }
    case Intrinsic2::set_function_type_params: {
      Expr *params = sim.pop(), *function = sim.pop();
      auto* internal = marked(function, Marker::function);
      if (!internal) sim.cursor.fail("type parameters of no function");
      sim.context.functions[internal->index].type_params = type_params_of(sim.context, sim.cursor, params);
      sim.push(function);
      return true;
    }
    case Intrinsic2::invalid:
    case Intrinsic2::prep_reraise_star: return false;
  }
  return false;
}

// Lifts a function that evaluates type parameters, and returns the definition that this function returns. Throws
// InternalError if the body of the function does anything but return a definition.
Expr* Lifter::run_generic() {
  sim_.generics.is_open = true;
  Lifted lifted = run();
  const Node& node = lifted.nodes[lifted.entry];
  if (node.end != Node::End::leave || !node.statements.empty() || holds_unfinished(node.value))
    cursor_.fail("type parameters of another shape");
  if (sim_.generics.class_params && is_class(node.value) && !as<Call>(node.value)->args.empty())
    if (auto* body = marked(as<Call>(node.value)->args[0], Marker::function))
      context_.functions[body->index].type_params = type_params_of(context_, cursor_, sim_.generics.class_params);
  return node.value;
}

// Decompiles `outer`, a function that evaluates type parameters, and returns the definition that replaces the call of
// `outer`.
Expr* evaluate_generic(Context& context, const Cursor& cursor, const FunctionValue& outer, List<Expr*> args) {
  const CodeObject& code = *outer.code;
  const std::int32_t constant = std::int32_t(outer.constant);
  if (args.size() != std::size_t(code.argcount)) cursor.fail("defaults of a function with type parameters");
  Result<DecodedCode> decoded = decode(code);
  if (!decoded) cursor.fail(decoded.error().message);
  if (Result<bool> united = unite_pair_iterators(*decoded); !united) cursor.fail(united.error().message);
  Cfg cfg = build_cfg(*decoded, GraphForm::statements);
  if (cfg.odd_regions || cfg.irreducible) cursor.fail("type parameters of another shape");
  const std::size_t first = context.functions.size();
  // Removes the index of the decompiled function from `context.path` at the end, also if an exception is thrown.
  struct Path {
    Table<std::uint32_t>& path;
    std::size_t depth;
    ~Path() { path.resize(depth); }
  } path{context.path, context.path.size()};
  context.path.push_back(outer.constant);
  // Functions that are created while type parameters are evaluated are constants of the generated function, not of the
  // outer code.
  Expr* made = with_restarts(context, cfg, [&](const std::set<int>& literal) {
    return Lifter(context, *decoded, cfg, false, literal).run_generic();
  });
  for (std::size_t index = first; index < context.functions.size(); ++index)
    if (context.functions[index].within < 0) context.functions[index].within = constant;
  // The outer code evaluates the defaults of a generic function, and passes them as the arguments `.defaults` and
  // `.kwdefaults`.
  if (auto* internal = marked(made, Marker::function)) {
    FunctionValue& function = context.functions[internal->index];
    for (Expr** part : {&function.defaults, &function.kw_defaults})
      for (std::size_t index = 0; index < args.size(); ++index)
        if (is_named(*part, code.varnames[index])) *part = args[index];
  }
  return made;
}

// Returns the `type` statement that binds the name `target` to the element `index` of `context.type_aliases`.
Stmt* type_alias(Context& context, const Cursor& cursor, int index, Expr* target) {
  const TypeAlias& alias = context.type_aliases[index];
  return context.stmt(TypeAlias{as<Name>(target)->id, alias.type_params, alias.value}, cursor.first_offset,
                      cursor.now().line);
}

}  // namespace depyf::lifting
