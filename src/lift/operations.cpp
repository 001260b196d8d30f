// Simulates the individual operations. The table of all operations is in one file with the small functions that only
// the table uses.
#include <algorithm>
#include <array>

#include "decode/op.h"
#include "decode/op_info.h"
#include "depyf/constant.h"
#include "lift/block_ends.h"
#include "lift/comprehensions.h"
#include "lift/definitions.h"
#include "lift/generics.h"
#include "lift/operations.h"
#include "lift/stores.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

namespace {
// Returns a part of a slice; null for None, which represents an omitted part.
Expr* unless_none(Expr* expr) { return is_none(expr) ? nullptr : expr; }

// Pushes the name of a function or type that LOAD_COMMON_CONSTANT loads.
void load_common_constant(Simulation& sim, CommonName constant) {
  static constexpr std::string_view names[] = {
      "AssertionError", "NotImplementedError", "tuple", "all", "any", "list", "set"};
  sim.push(Name{names[static_cast<std::size_t>(constant)]});
}

// Pushes a cell itself, not its content. In Python, the expression for the cell of x is (lambda: x).__closure__[0].
void load_closure(Simulation& sim, int index) {
  auto* args = sim.context.arena.make<Arguments>();
  Expr* lambda = sim.cursor.make(Lambda{args, sim.cursor.local(index)});
  Expr* closure = sim.cursor.make(Attribute{lambda, "__closure__"});
  sim.push(Subscript{closure, sim.context.constant(Constant::Kind::integer, "0")});
}

// Handles TO_BOOL. In front of a test, TO_BOOL changes nothing, because the test converts its operand as well. A
// JUMP_IF_x_OR_POP may keep the result of TO_BOOL as a value. Where the compiler emits TO_BOOL for `and` and `or`,
// src/flow/idioms.cpp has already merged TO_BOOL into JUMP_IF_x_OR_POP.
void to_bool(Simulation& sim) {
  const int next = sim.cursor.skip(sim.cursor.at + 1);
  const Op op = next < sim.cursor.end ? sim.cursor.code[next].op : Op::nop_;
  const bool is_tested = op == Op::unary_op_ || (tests_truth(op) && info_of(op).control != Control::keeping_test);
  // If no test follows TO_BOOL, or the test may keep the result of TO_BOOL, the source was `not not x`.
  if (!is_tested) sim.push(UnaryExpr{UnaryOp::not_, sim.cursor.make(UnaryExpr{UnaryOp::not_, sim.pop()})});
}

// Pops the container and, above it, the index or the parts of the slice, and returns the subscript. The operands of a
// store target are popped without a check of their order of evaluation, because an augmented assignment moves these
// operands by SWAP.
Expr::Node subscript(Simulation& sim, bool is_slice, bool is_target) {
  auto next = [&] { return is_target ? sim.pop_entry().expr : sim.pop(); };
  if (is_slice) {
    Expr* stop = next();
    Expr* start = next();
    Expr* container = next();
    return Subscript{container, sim.cursor.make(Slice{unless_none(start), unless_none(stop), nullptr})};
  }
  Expr* key = next();
  return Subscript{next(), key};
}

// Handles BUILD_SLICE with two or three parts.
void build_slice(Simulation& sim, int parts) {
  const List<Expr*> items = sim.pop_many(parts);
  // Outside of a subscript, `settle` turns the slice into a call of slice().
  sim.push(Slice{unless_none(items[0]), unless_none(items[1]), parts == 3 ? items[2] : nullptr});
}

// Pushes len() of the subject of a pattern, and leaves the subject on the stack.
void length(Simulation& sim) {
  Expr* subject = sim.peek(1).expr;
  if (!sim.names.stable(subject)) sim.spill_all(sim.stack.size());
  sim.push(sim.builtin_call("len", sim.context.list({sim.peek(1).expr}), sim.cursor.now().offset));
}

// Handles INTRINSIC_PRINT, and throws InternalError for any other intrinsic function. The intrinsic functions besides
// INTRINSIC_PRINT that the compiler emits are handled by earlier passes, by `run_generics` or by `import_name`.
void intrinsic(Simulation& sim, Intrinsic1 function) {
  if (function != Intrinsic1::print) sim.cursor.fail("no Python syntax for " + std::string(op_name(Op::intrinsic_1_)));
  sim.emit(ExprStmt{sim.pop()});
  sim.push(sim.context.none());
}

// Handles RAISE_VARARGS.
void raise(Simulation& sim, int operands) {
  Expr *cause = operands >= 2 ? sim.pop() : nullptr, *exc = operands >= 1 ? sim.pop() : nullptr;
  sim.emit(Raise{exc, cause});
  stop(sim.graph);
}

bool has_opaque_item(const Constant& constant);
// True if the constant has no literal, or has an item without a literal. The kinds of constants that precede `tuple` in
// Constant::Kind have a literal and no items.
inline bool is_opaque(const Constant& constant) {
  if (constant.kind < Constant::Kind::tuple) return false;
  const bool has_literal = constant.kind != Constant::Kind::opaque && constant.kind != Constant::Kind::code;
  return !has_literal || has_opaque_item(constant);
}
// Few constants have items, so `has_opaque_item` is not inlined.
[[gnu::noinline]] bool has_opaque_item(const Constant& constant) {
  return std::any_of(constant.items.begin(), constant.items.end(), is_opaque);
}

// Handles LOAD_CONST. A constant without a literal is represented by a name: `__const_0`.
void load_const(Simulation& sim, int index) {
  const std::span<const Constant> own = sim.cursor.decoded.constants;
  const bool is_own = index >= 0 && std::size_t(index) < own.size();
  if (!is_own && (index < 0 || index >= sim.cursor.decoded.constant_count())) sim.cursor.fail("no such constant");
  const Constant& constant = is_own ? own[std::size_t(index)] : sim.cursor.decoded.constant(index);
  if (!is_opaque(constant)) sim.push(ConstantExpr{&constant});
  else if (constant.kind == Constant::Kind::code) sim.push(Internal{Marker::code, index, nullptr});
  else sim.push(named_constant(sim.context, sim.cursor, sim.names, index));
}

// Returns `object.name` or, if the name is no identifier (Dynamo loads the attribute `0` of a module), `getattr(object,
// "0")`.
Expr* attribute(Context& context, const Cursor& cursor, Expr* object, std::string_view name) {
  if (is_name(name)) return cursor.make(Attribute{object, name});
  Expr* text = context.constant(Constant::Kind::string, std::string(name));
  return cursor.make(Call{context.name("getattr"), context.list({object, text}), {}});
}

void fail(Simulation& sim, const Instruction& instruction) {
  sim.cursor.fail("no Python syntax for " + std::string(op_name(instruction.op)));
}

// Two templates adapt functions to the type `Operation`. `with_argument` takes a function that needs only the argument
// of the instruction, and `alone` takes a function that needs no part of the instruction.
template <void (*function)(Simulation&, int)>
void with_argument(Simulation& sim, const Instruction& instruction) {
  function(sim, instruction.arg);
}
template <void (*function)(Simulation&)>
void alone(Simulation& sim, const Instruction&) {
  function(sim);
}

// Returns the function that simulates operation `op`, from a table of all operations. Functions of more than a few
// lines are in separate files, one for each group of operations.
constexpr Operation function_for(Op op) {
  switch (op) {
    case Op::pop_top_: return alone<pop_top>;
    case Op::copy_: return with_argument<copy>;
    case Op::swap_: return with_argument<swap>;
    case Op::rotate_: return with_argument<rotate>;
    case Op::push_null_:
      return [](Simulation& sim, const Instruction&) { sim.push(Internal{Marker::null, 0, nullptr}); };
    case Op::load_const_: return with_argument<load_const>;
    case Op::load_int_:
      return [](Simulation& sim, const Instruction& instruction) {
        sim.push(sim.context.constant(Constant::Kind::integer, std::to_string(instruction.arg))->node);
      };
    case Op::load_common_constant_:
      return [](Simulation& sim, const Instruction& instruction) {
        load_common_constant(sim, CommonName(instruction.arg));
      };
    case Op::load_assertion_error_:
      return [](Simulation& sim, const Instruction&) { load_common_constant(sim, CommonName::assertion_error); };
    case Op::load_fast_:
    case Op::load_deref_:
    case Op::load_class_deref_:
      return [](Simulation& sim, const Instruction& instruction) {
        sim.push(Name{sim.cursor.local_name(instruction.arg)});
      };
    case Op::load_name_:
    case Op::load_global_:
      return
          [](Simulation& sim, const Instruction& instruction) { sim.push(Name{sim.cursor.name_of(instruction.arg)}); };
    // LOAD_FROM_DICT_OR_DEREF and LOAD_FROM_DICT_OR_GLOBALS look the name up in a dict on the stack first, as a plain
    // name in a class body does.
    case Op::load_from_dict_or_deref_:
      return [](Simulation& sim, const Instruction& instruction) {
        sim.pop(), sim.push(Name{sim.cursor.local_name(instruction.arg)});
      };
    case Op::load_from_dict_or_globals_:
      return [](Simulation& sim, const Instruction& instruction) {
        sim.pop(), sim.push(Name{sim.cursor.name_of(instruction.arg)});
      };
    case Op::load_locals_:
      return [](Simulation& sim, const Instruction&) { sim.push(Internal{Marker::locals, 0, nullptr}); };
    case Op::load_closure_: return with_argument<load_closure>;
    case Op::load_build_class_:
      return [](Simulation& sim, const Instruction&) { sim.push(Internal{Marker::build_class, 0, nullptr}); };
    case Op::load_attr_:
      return [](Simulation& sim, const Instruction& instruction) {
        sim.push(attribute(sim.context, sim.cursor, sim.pop(), sim.cursor.name_of(instruction.arg)));
      };
    case Op::load_method_:
      // LOAD_METHOD pushes the method and a second value (NULL or `self`), which the call pops.
      return [](Simulation& sim, const Instruction& instruction) {
        sim.push(attribute(sim.context, sim.cursor, sim.pop(), sim.cursor.name_of(instruction.arg)));
        sim.push(Internal{Marker::null, 1, nullptr});
      };
    case Op::load_super_attr_: return super_attribute;
    case Op::import_name_: return alone<import_name>;

    case Op::unary_op_:
      return [](Simulation& sim, const Instruction& instruction) {
        sim.push(UnaryExpr{UnaryOp(instruction.arg), sim.pop()});
      };
    case Op::binary_op_:
      return [](Simulation& sim, const Instruction& instruction) {
        binary(sim, BinaryOp(instruction.arg), instruction.aux != 0);
      };
    case Op::compare_op_:
      return [](Simulation& sim, const Instruction& instruction) { compare(sim, CompareOp(instruction.arg)); };
    case Op::is_op_:
      return [](Simulation& sim, const Instruction& instruction) {
        compare(sim, instruction.arg ? CompareOp::is_not : CompareOp::is);
      };
    case Op::contains_op_:
      return [](Simulation& sim, const Instruction& instruction) {
        compare(sim, instruction.arg ? CompareOp::not_in : CompareOp::in);
      };
    case Op::to_bool_: return alone<to_bool>;
    case Op::binary_subscr_:
    case Op::binary_slice_:
      return [](Simulation& sim, const Instruction& instruction) {
        sim.push(subscript(sim, instruction.op == Op::binary_slice_, false));
      };
    case Op::get_len_: return alone<length>;
    case Op::get_iter_:
    case Op::get_aiter_:
      return
          [](Simulation& sim, const Instruction&) { sim.push(Internal{Marker::iterator, sim.cursor.at, sim.pop()}); };

    case Op::build_tuple_:
      return [](Simulation& sim, const Instruction& instruction) { sim.push(Tuple{sim.pop_many(instruction.arg)}); };
    case Op::build_list_:
      return [](Simulation& sim, const Instruction& instruction) { sim.push(ListExpr{sim.pop_many(instruction.arg)}); };
    case Op::build_set_:
      return [](Simulation& sim, const Instruction& instruction) { sim.push(SetExpr{sim.pop_many(instruction.arg)}); };
    case Op::build_map_:
      return [](Simulation& sim, const Instruction& instruction) { build_dict(sim, instruction.arg, false); };
    case Op::build_const_key_map_:
      return [](Simulation& sim, const Instruction& instruction) { build_dict(sim, instruction.arg, true); };
    case Op::build_slice_: return with_argument<build_slice>;
    case Op::build_string_: return with_argument<join_string>;
    case Op::build_unpack_: return build_unpack;
    case Op::build_template_: return alone<build_template>;
    case Op::build_interpolation_: return build_interpolation;
    case Op::format_value_: return format_value;
    case Op::convert_value_: return with_argument<convert>;
    case Op::list_to_tuple_: return alone<list_to_tuple>;
    case Op::list_append_:
    case Op::set_add_:
    case Op::map_add_:
    case Op::list_extend_:
    case Op::set_update_:
    case Op::dict_update_:
    case Op::dict_merge_: return extend;

    case Op::call_:
    case Op::call_kw_:
    case Op::call_function_:
    case Op::call_function_kw_: return call;
    case Op::call_function_ex_: return call_ex;
    case Op::make_function_: return make_function;
    case Op::set_function_attribute_: return with_argument<set_function_attribute>;
    case Op::comprehension_: return inlined_comprehension;
    case Op::intrinsic_1_:
      return [](Simulation& sim, const Instruction& instruction) {
        if (!run_generics(sim, instruction)) intrinsic(sim, Intrinsic1(instruction.arg));
      };
    case Op::intrinsic_2_:
      return [](Simulation& sim, const Instruction& instruction) {
        if (!run_generics(sim, instruction)) fail(sim, instruction);
      };
    case Op::get_yield_from_iter_:
    case Op::get_awaitable_:
    case Op::yield_from_:
    case Op::yield_value_:
    case Op::async_gen_wrap_: return yields;

    case Op::store_fast_:
    case Op::store_deref_:
      return
          [](Simulation& sim, const Instruction& instruction) { store_name(sim, sim.cursor.local(instruction.arg)); };
    case Op::store_name_:
    case Op::store_global_:
      return [](Simulation& sim, const Instruction& instruction) {
        store_name(sim, sim.cursor.make(Name{sim.cursor.name_of(instruction.arg)}));
      };
    case Op::store_attr_:
      return [](Simulation& sim, const Instruction& instruction) {
        Expr* object = sim.pop_entry().expr;
        store(sim, sim.cursor.make(Attribute{object, sim.cursor.name_of(instruction.arg)}), sim.pop_entry());
      };
    case Op::store_subscr_:
    case Op::store_slice_:
      return [](Simulation& sim, const Instruction& instruction) {
        Expr* target = sim.cursor.make(subscript(sim, instruction.op == Op::store_slice_, true));
        store(sim, target, sim.pop_entry());
      };
    case Op::unpack_sequence_:
      return [](Simulation& sim, const Instruction& instruction) { unpack(sim, instruction.arg, 0, false); };
    case Op::unpack_ex_:
      return
          [](Simulation& sim, const Instruction& instruction) { unpack(sim, instruction.arg, instruction.aux, true); };
    case Op::delete_fast_:
    case Op::delete_name_:
    case Op::delete_global_:
    case Op::delete_deref_:
      return [](Simulation& sim, const Instruction& instruction) {
        sim.emit(Delete{sim.context.list({sim.cursor.target_name(instruction)})});
      };
    case Op::delete_attr_:
      return [](Simulation& sim, const Instruction& instruction) {
        sim.emit(
            Delete{sim.context.list({sim.cursor.make(Attribute{sim.pop(), sim.cursor.name_of(instruction.arg)})})});
      };
    case Op::delete_subscr_:
      return [](Simulation& sim, const Instruction&) {
        sim.emit(Delete{sim.context.list({sim.cursor.make(subscript(sim, false, false))})});
      };
    case Op::print_expr_: return [](Simulation& sim, const Instruction&) { sim.emit(ExprStmt{sim.pop()}); };
    case Op::annotated_:
      return [](Simulation& sim, const Instruction& instruction) {
        sim.emit(InternalStmt{StmtMarker::annotated, instruction.arg, nullptr, nullptr});
      };

    // The following operations push no value and emit no statement: the graph contains the control flow, and cells
    // follow from the scopes of variables.
    case Op::nop_:
    case Op::resume_:
    case Op::jump_:
    case Op::make_cell_:
    case Op::copy_free_vars_:
    case Op::setup_annotations_:
    case Op::protected_: return [](Simulation&, const Instruction&) {};
    case Op::pop_jump_if_true_:
    case Op::pop_jump_if_false_:
    case Op::pop_jump_if_none_:
    case Op::pop_jump_if_not_none_:
    case Op::jump_if_true_or_pop_:
    case Op::jump_if_false_or_pop_: return branch;
    case Op::match_case_: return match_case;
    case Op::for_iter_: return loop;
    case Op::return_value_: return leave;
    case Op::raise_: return with_argument<raise>;
    case Op::unreachable_: return [](Simulation& sim, const Instruction&) { stop(sim.graph); };

    case Op::reraise_: return reraise;
    case Op::behind_handlers_:
    case Op::push_exc_info_:
    case Op::pop_except_:
    case Op::check_exc_match_:
    case Op::check_eg_match_: return handler;
    case Op::with_except_start_: return call_exit;
    case Op::with_exit_:
      return [](Simulation& sim, const Instruction&) {
        finish_call(sim, sim.pop(), sim.context.list({sim.context.none(), sim.context.none(), sim.context.none()}), {});
      };
    case Op::before_with_:
    case Op::before_async_with_: return enter_with;

    case Op::match_mapping_:
    case Op::match_sequence_:
    case Op::match_class_:
    case Op::match_keys_:
    case Op::copy_dict_without_keys_: return matching;

    case Op::import_star_:
    case Op::import_from_: return [](Simulation& sim, const Instruction&) { sim.cursor.fail("import out of place"); };
    // Passes of src/flow remove the following operations from compiler-generated code.
    case Op::load_fast_and_clear_:
    case Op::end_for_:
    case Op::pop_iter_:
    case Op::load_special_:
    case Op::get_anext_:
    case Op::end_async_for_:
    case Op::send_:
    case Op::end_send_:
    case Op::cleanup_throw_:
    case Op::return_generator_:
    case Op::setup_finally_:
    case Op::setup_with_:
    case Op::setup_async_with_:
    case Op::pop_block_:
    case Op::begin_finally_:
    case Op::end_finally_:
    case Op::call_finally_:
    case Op::pop_finally_:
    case Op::with_cleanup_start_:
    case Op::with_cleanup_finish_:
    case Op::unknown_: return fail;
  }
  return nullptr;
}

}  // namespace

constexpr std::array<Operation, op_count> operations = [] {
  std::array<Operation, op_count> all{};
  for (std::size_t op = 0; op < op_count; ++op) all[op] = function_for(static_cast<Op>(op));
  return all;
}();

// A constant without a literal is identified by its path in the tree of code objects, and has the same name, such as
// `__const_0`, in all code objects.
Expr* named_constant(Context& context, const Cursor& cursor, StableNames& names, int index) {
  Table<std::uint32_t> path = context.path;
  path.push_back(std::uint32_t(index));
  std::string name;
  for (const NamedConstant& named : context.named_constants)
    if (named.path == path) name = named.name;
  if (name.empty()) {
    name = "__const_" + std::to_string(context.named_constants.size());
    context.named_constants.push_back({name, path});
  }
  std::string_view id = context.arena.copy(name);
  names.note(id);
  return cursor.make(Name{id});
}

}  // namespace depyf::lifting
