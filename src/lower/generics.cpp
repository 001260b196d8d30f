#include <algorithm>

#include "decode/op.h"
#include "lower/definitions.h"
#include "lower/expressions.h"
#include "lower/generics.h"

namespace depyf::lowering {
using namespace ast;

namespace {

int default_format(Assembler& code, const Dialect& dialect);

// Pushes a function that evaluates the bound, the constraints or the default of a type parameter lazily.
void evaluator(Unit& unit, const Expr* value, std::string_view name) {
  const Header header{.name = std::string(name),
                      .qualname = unit.qualified(name),
                      .posonly = unit.dialect.deferred_annotations,
                      .is_evaluator = true};
  auto code = unit.nested(value, header, [&](Unit& within) {
    format_test(within);
    // The default of `*Ts` may be starred.
    if (auto* starred = as<Starred>(value)) {
      expr(within, starred->value);
      within.code.emit(Op::unpack_sequence_, 1);
    } else {
      expr(within, value);
    }
    within.code.emit(Op::return_value_);
  });
  unit.make_function(code, default_format(unit.code, unit.dialect));
}

// Pushes the default for the format parameter of a lazily called function (3.14 and later). Returns the flag that tells
// MAKE_FUNCTION about the default. Before 3.14, pushes nothing and returns 0.
int default_format(Assembler& code, const Dialect& dialect) {
  if (!dialect.deferred_annotations) return 0;
  code.load_integer(1);
  code.emit(Op::build_tuple_, 1);
  return with_defaults;
}

}  // namespace

// Emits the test `if format > 2: raise NotImplementedError`.
void format_test(Unit& unit) {
  if (!unit.dialect.deferred_annotations) return;
  const Label known = unit.code.label();
  unit.names.variable(".format", Access::load);
  unit.code.load_integer(2);
  unit.code.emit(Op::compare_op_, static_cast<std::int32_t>(CompareOp::gt));
  unit.code.jump(Op::pop_jump_if_false_, known);
  unit.code.emit(Op::load_common_constant_, static_cast<std::int32_t>(CommonName::not_implemented_error));
  unit.code.emit(Op::raise_, 1);
  unit.code.place(known);
}

// An intrinsic operation creates each type parameter from its name and, if it has a bound, the function that evaluates
// the bound.
void type_params(Unit& unit, List<TypeParam> params) {
  for (const TypeParam& param : params) {
    unit.code.load_string(unit.names.spelled(param.name));
    switch (param.kind) {
      case TypeParam::Kind::type_var:
        if (param.bound) {
          evaluator(unit, param.bound, unit.names.spelled(param.name));
          // A tuple in place of the bound lists the constraints, but a tuple that the compiler folds into a constant
          // before it looks at the type parameter is a bound.
          const bool has_constraints =
              is<Tuple>(param.bound) ||
              (unit.dialect.late_folding && constant_of(param.bound, Constant::Kind::tuple) != nullptr);
          const Intrinsic2 intrinsic =
              has_constraints ? Intrinsic2::typevar_with_constraints : Intrinsic2::typevar_with_bound;
          unit.code.emit(Op::intrinsic_2_, static_cast<std::int32_t>(intrinsic));
        } else {
          unit.code.emit(Op::intrinsic_1_, static_cast<std::int32_t>(Intrinsic1::typevar));
        }
        break;
      case TypeParam::Kind::param_spec:
        unit.code.emit(Op::intrinsic_1_, static_cast<std::int32_t>(Intrinsic1::paramspec));
        break;
      case TypeParam::Kind::type_var_tuple:
        unit.code.emit(Op::intrinsic_1_, static_cast<std::int32_t>(Intrinsic1::typevartuple));
        break;
    }
    if (param.default_value) {
      evaluator(unit, param.default_value, unit.names.spelled(param.name));
      unit.code.emit(Op::intrinsic_2_, static_cast<std::int32_t>(Intrinsic2::set_typeparam_default));
    }
    unit.code.emit(Op::copy_, 1);
    unit.names.variable(unit.names.mangled(param.name), Access::store);
  }
  unit.code.emit(Op::build_tuple_, static_cast<std::int32_t>(params.size()));
}

// The function that evaluates type parameters is called immediately. If the definition is a generic function, its
// defaults are the arguments of this call. The defaults are pushed before the called function, so a ROT_N moves the
// called function below the defaults.
void generic(Unit& unit, const void* node, std::string_view name, int arguments, FunctionRef<void(Unit&)> body) {
  const std::string own_name = "<generic parameters of " + std::string(name) + ">";
  const Header header{.name = own_name, .qualname = unit.qualified(own_name)};
  auto code = unit.nested(node, header, [&](Unit& within) {
    body(within);
    within.code.emit(Op::return_value_);
  });
  unit.make_function(code, 0);
  if (arguments > 0) unit.code.emit(Op::rotate_, arguments + 1);
  unit.code.emit(Op::call_function_, arguments);
}

// Emits a `type` statement: an intrinsic operation takes the tuple of the name, the type parameters and the function
// that evaluates the value.
void type_alias(Unit& unit, const TypeAlias& node, const Stmt* stmt) {
  const auto alias = [&](Unit& within) {
    const Header header{.name = std::string(node.name),
                        .qualname = within.qualified(node.name, !unit.dialect.deferred_annotations),
                        .posonly = unit.dialect.deferred_annotations};
    auto code = within.nested(stmt, header, [&](Unit& inner) {
      format_test(inner);
      expr(inner, node.value);
      inner.code.emit(Op::return_value_);
    });
    within.make_function(code, default_format(within.code, within.dialect));
    within.code.emit(Op::build_tuple_, 3);
    within.code.emit(Op::intrinsic_1_, static_cast<std::int32_t>(Intrinsic1::typealias));
  };
  if (node.type_params.empty()) {
    unit.code.load_string(node.name);
    unit.code.load_none();
    alias(unit);
  } else {
    generic(unit, &node.type_params, node.name, 0, [&](Unit& within) {
      within.code.load_string(node.name);
      type_params(within, node.type_params);
      alias(within);
    });
  }
  unit.names.name(node.name, Access::store);
}

}  // namespace depyf::lowering
