// Builds the expressions of values on the stack. The table of operations (`Expressions::made`) is in one file with most
// of the functions that it calls.
#include "stack/expressions.h"

#include <algorithm>

#include "decode/op.h"
#include "depyf/code_object.h"
#include "print/print.h"
#include "support/table.h"

namespace depyf {
using namespace ast;

namespace {

// The largest number of nodes of an expression. The size needs a limit, because each value that is copied and used
// twice doubles the size of an expression.
constexpr int size_max = 300;
constexpr int expression_depth_max = 60;

}  // namespace

const ValueExpression& Expressions::of(int value) {
  auto found = known_.find(value);
  if (found != known_.end()) return found->second;
  if (depth_ >= expression_depth_max) return known_[-1] = note("...");
  // A value in a loop may be computed from itself, so a note stands for the value while its expression is being built.
  known_[value] = note("...");
  ++depth_;
  ValueExpression built = build(values_.value(value));
  --depth_;
  if (built.size > size_max) built = note("...", built.internal());
  return known_[value] = std::move(built);
}

// An expression with effects is never current, because evaluating it again would repeat the effects.
bool Expressions::is_current(const ValueExpression& expression, const MachineState& state) {
  if (expression.effects || expression.null()) return false;
  if (expression.reads_memory && expression.memory != state.memory) return false;
  return std::all_of(expression.locals.begin(), expression.locals.end(), [&](const auto& read) {
    return std::size_t(read.first) < state.locals.size() && state.locals[read.first] == read.second;
  });
}

// Returns a local whose current version was set by an instruction that stored `value`; null if there is no such local.
Expr* Expressions::holder(int value, const MachineState& state) {
  for (std::size_t local = 0; local < state.locals.size(); ++local) {
    const VersionId version = state.locals[local];
    if (version >= 0 && version < int(values_.code().size()) && values_.stored_by(version) == value)
      return expr(Name{values_.decoded().localsplus[local]});
  }
  return nullptr;
}

// Returns the name at `index` in the names of the code object; "_" if there is no such name.
std::string_view Expressions::name(int index) const {
  return index >= 0 && std::size_t(index) < code_.names.size() ? std::string_view(code_.names[std::size_t(index)])
                                                               : std::string_view("_");
}

ast::List<Expr*> Expressions::list(const Parts& parts, std::size_t begin, std::size_t end) {
  Table<Expr*> exprs;
  for (std::size_t i = begin; i < end && i < parts.size(); ++i) exprs.push_back(part(parts[i]));
  return arena_.copy(exprs);
}

Expr* Expressions::integer(int value) {
  Constant constant;
  constant.kind = Constant::Kind::integer;
  constant.text = std::to_string(value);
  constants_.push_back(std::move(constant));
  return expr(ConstantExpr{&constants_.back()});
}

std::string Expressions::text(int value) {
  std::string text = print_expr(part(value), code_.version);
  return text.size() > 200 ? "..." : text;
}

ValueExpression Expressions::note(std::string text, bool internal) {
  ValueExpression result;
  result.expr = expr(Verbatim{arena_.copy("<" + text + ">")});
  result.effects = true;
  if (internal) result.make_internal();
  return result;
}

// Returns the expression `node`, whose parts are the expressions of the values `parts`. The expression reads the
// locals and the memory that its parts read.
ValueExpression Expressions::compound(Expr::Node node, const Parts& parts, const StackValue& value) {
  ValueExpression result;
  result.expr = expr(std::move(node));
  result.memory = value.memory;
  for (int id : parts) {
    const ValueExpression& one = of(id);
    result.size += one.size;
    result.effects |= one.effects;
    if (one.reads_memory) {
      // If an instruction changed memory after one part was computed, evaluating all parts again need not yield the
      // same value.
      result.effects |= one.memory != value.memory;
      result.reads_memory = true;
    }
    result.locals.insert(result.locals.end(), one.locals.begin(), one.locals.end());
  }
  std::sort(result.locals.begin(), result.locals.end());
  result.locals.erase(std::unique(result.locals.begin(), result.locals.end()), result.locals.end());
  return result;
}

// The values that are on the stack at the start of a handler have no expression in Python, but only a note such as
// `<exception>`.
ValueExpression Expressions::build(const StackValue& value) {
  using Kind = StackValue::Kind;
  switch (value.kind) {
    case Kind::made: return made(value);
    case Kind::met: return met(value);
    case Kind::exception: return note("exception", true);
    case Kind::previous_exception: return note("exception handled before", true);
    case Kind::traceback: return note("exception's traceback and type", true);
    case Kind::lasti: return note("where it was raised", true);
    case Kind::entry:
    case Kind::resumed: return note("unknown", true);
  }
  return note("unknown", true);
}

// Returns the expression of a value that differs by path: a conditional expression, or a note that lists the possible
// values.
ValueExpression Expressions::met(const StackValue& value) {
  ValueExpression chosen = choice(value);
  if (chosen.expr) return chosen;
  std::string both;
  bool internal = false;
  for (int id : value.inputs) {
    std::string one = text(id);
    internal |= of(id).internal();
    if (!both.empty()) both += " | ";
    both += both.size() + one.size() > 200 ? "..." : one;
  }
  return note(both.empty() ? "unknown" : both, internal);
}

// Returns `a or b`, `a and b` or `a if test else b` if `value` stands for two values that come from the two paths
// behind one conditional jump. Returns an empty expression for any other value.
ValueExpression Expressions::choice(const StackValue& value) {
  const Table<int>& ways = values_.ways_to(value.at);
  if (ways.size() != 2 || value.inputs.size() != 2) return {};
  // The test is at the end of one of the two blocks that lead to the block of `value`, or at the end of a block that
  // leads to both of these blocks.
  int test = -1, arms[2] = {ways[0], ways[1]};
  auto only_way = [&](int block) { return values_.ways_to(block).size() == 1 ? values_.ways_to(block)[0] : -1; };
  if (only_way(arms[1]) == arms[0]) test = arms[0];
  else if (only_way(arms[0]) == arms[1]) test = arms[1];
  else if (only_way(arms[0]) >= 0 && only_way(arms[0]) == only_way(arms[1])) test = only_way(arms[0]);
  if (test < 0 || test >= value.at) return {};
  const int tested = values_.tested_by(test);
  const Instruction& jump = values_.code()[values_.end_of(test) - 1];
  if (tested < 0 || jump.target < 0) return {};
  const bool jumps_if_true = jump.op == Op::jump_if_true_or_pop_ || jump.op == Op::pop_jump_if_true_;
  if (!jumps_if_true && jump.op != Op::jump_if_false_or_pop_ && jump.op != Op::pop_jump_if_false_) return {};
  // Find the path that computed each of the two values. A value that was computed on neither path was computed in front
  // of the test, and belongs to the path that does not compute the other value.
  auto made_in = [&](int id) {
    const StackValue& one = values_.value(id);
    return one.kind == StackValue::Kind::made ? values_.block_of(one.at) : one.at;
  };
  int first = value.inputs[0], second = value.inputs[1];
  const int fallen = values_.block_of(values_.end_of(test) - 1) + 1, jumped = values_.block_of(jump.target);
  auto belongs = [&](int id, int arm) { return made_in(id) == arm; };
  int on_fall = -1, on_jump = -1;
  for (int id : {first, second}) {
    const int other = id == first ? second : first;
    if (jumped != value.at && belongs(id, jumped)) on_jump = id, on_fall = other;
    if (fallen != value.at && belongs(id, fallen)) on_fall = id, on_jump = other;
  }
  if (on_fall < 0 || on_jump < 0) return {};
  // True if `id` is the value that the conditional jump tests.
  auto is_test = [&](int id) {
    if (id == tested) return true;
    // From 3.13 on, TO_BOOL converts a copy of the value before the jump.
    const StackValue& one = values_.value(tested);
    return one.kind == StackValue::Kind::made && values_.code()[one.at].op == Op::to_bool_ && one.inputs[0] == id;
  };
  ValueExpression result;
  if (jumped == value.at && is_test(on_jump)) {
    result = compound(BoolOp{jumps_if_true, arena_.copy(Table<Expr*>{part(on_jump), part(on_fall)})},
                      {on_jump, on_fall}, values_.value(on_fall));
  } else {
    const int if_true = jumps_if_true ? on_jump : on_fall, if_false = jumps_if_true ? on_fall : on_jump;
    int condition = tested;
    const StackValue& one = values_.value(tested);
    if (one.kind == StackValue::Kind::made && values_.code()[one.at].op == Op::to_bool_) condition = one.inputs[0];
    result = compound(IfExp{part(condition), part(if_true), part(if_false)}, {condition, if_true, if_false}, one);
  }
  // The truth test may call `__bool__`, which may read anything.
  result.reads_memory = true;
  return result;
}

// Returns the expression of a constant. A constant without a literal, or a container of such a constant, becomes a note
// with the index of the constant.
ValueExpression Expressions::constant(int index) {
  if (index < 0 || index >= values_.decoded().constant_count()) return note("unknown");
  const Constant& value = values_.decoded().constant(index);
  if (value.kind == Constant::Kind::code) return note("code of " + value.code->name, true);
  auto opaque = [](const Constant& one, auto& self) -> bool {
    return one.kind == Constant::Kind::opaque || one.kind == Constant::Kind::code ||
           std::any_of(one.items.begin(), one.items.end(), [&](const Constant& item) { return self(item, self); });
  };
  if (opaque(value, opaque)) return note("constant " + std::to_string(index));
  ValueExpression result;
  result.expr = expr(ConstantExpr{&value});
  return result;
}

// Returns the expression of a local. The expression of a cell reads memory, because other functions can change the
// cell.
ValueExpression Expressions::local(const StackValue& value, int index) {
  if (index < 0 || std::size_t(index) >= values_.decoded().localsplus.size()) return note("unknown");
  const std::string_view name = values_.decoded().localsplus[index];
  if (name.starts_with('.')) return note("argument " + std::string(name));
  ValueExpression result;
  result.expr = expr(Name{name});
  result.locals.push_back({index, value.local});
  if (values_.decoded().is_cell[index]) result.reads_memory = true, result.memory = value.memory;
  return result;
}

// Returns an expression that yields the same value whenever it is evaluated.
ValueExpression Expressions::plain(Expr::Node node) {
  ValueExpression result;
  result.expr = expr(std::move(node));
  return result;
}

// Returns an expression that reads memory, such as an attribute. If the memory changes later, a further evaluation of
// the expression may yield another value.
ValueExpression Expressions::read(Expr::Node node, const Parts& parts, const StackValue& value) {
  ValueExpression result = compound(std::move(node), parts, value);
  result.reads_memory = true;
  result.memory = value.memory;
  return result;
}

std::string Expressions::variable(const Instruction& it) const {
  return std::string(values_.decoded().localsplus[it.arg]);
}

// Returns the expression of a NULL on the stack.
ValueExpression Expressions::null() {
  ValueExpression result = plain(Verbatim{"NULL"});
  result.kind = StackSlot::Kind::null;
  result.effects = true;
  return result;
}

// Returns the expression of a value that LOAD_METHOD or LOAD_SUPER_ATTR pushes: the method or, above it, the object on
// which the method is called.
ValueExpression Expressions::method(const StackValue& value, const Instruction& it) {
  const Parts& in = value.inputs;
  if (value.index != 0) {
    ValueExpression receiver = of(in.back());
    receiver.kind = StackSlot::Kind::receiver;
    return receiver;
  }
  const bool is_super = it.op == Op::load_super_attr_;
  ValueExpression result =
      is_super ? note("super()." + std::string(name(it.arg))) : read(Attribute{part(in[0]), name(it.arg)}, in, value);
  if (!is_super || (it.aux & 1) != 0) result.kind = StackSlot::Kind::method;
  return result;
}

ValueExpression Expressions::comparison(const StackValue& value, CompareOp op) {
  const Parts& in = value.inputs;
  return read(Compare{part(in[0]), arena_.copy(Table<CompareOp>{op}), list(in, 1, 2)}, in, value);
}

// Returns a call of the built-in function `function` with the first operand of the operation that computed the value.
// The call yields what the operation yields.
ValueExpression Expressions::internal_call(std::string_view function, const StackValue& value) {
  ValueExpression result = compound(Call{expr(Name{function}), list(value.inputs, 0, 1), {}}, value.inputs, value);
  result.make_internal();
  return result;
}

// Returns the expression of a value that an operation has pushed. The switch is a table of all operations.
ValueExpression Expressions::made(const StackValue& value) {
  const Instruction& it = values_.code()[value.at];
  const Parts& in = value.inputs;
  switch (it.op) {
    case Op::load_const_: return constant(it.arg);
    case Op::load_int_: return plain(integer(it.arg)->node);
    case Op::push_null_: return null();
    case Op::load_fast_:
    case Op::load_deref_:
    case Op::load_class_deref_: return local(value, it.arg);
    case Op::load_fast_and_clear_: return note("what was in " + variable(it), true);
    case Op::load_from_dict_or_deref_: return note(variable(it));
    case Op::load_closure_: return note("cell of " + variable(it), true);
    case Op::load_name_:
    case Op::load_global_:
    case Op::load_from_dict_or_globals_: {
      ValueExpression result = plain(Name{name(it.arg)});
      result.reads_memory = true;
      result.memory = value.memory;
      return result;
    }
    case Op::load_assertion_error_: return plain(Name{"AssertionError"});
    case Op::load_locals_: return note("locals()", true);
    case Op::load_build_class_: return note("__build_class__");
    case Op::load_attr_: return read(Attribute{part(in[0]), name(it.arg)}, in, value);
    case Op::load_method_:
    case Op::load_super_attr_: return method(value, it);
    case Op::binary_op_:
      if (it.aux) return note(text(in[0]) + " changed in place by " + text(in[1]));
      return read(BinOp{part(in[0]), BinaryOp(it.arg), part(in[1]), false}, in, value);
    case Op::binary_subscr_: return read(Subscript{part(in[0]), part(in[1])}, in, value);
    case Op::binary_slice_:
      return read(Subscript{part(in[0]), expr(Slice{part(in[1]), part(in[2]), nullptr})}, in, value);
    case Op::unary_op_: return read(UnaryExpr{UnaryOp(it.arg), part(in[0])}, in, value);
    case Op::compare_op_: return comparison(value, CompareOp(it.arg));
    case Op::is_op_: return comparison(value, it.arg ? CompareOp::is_not : CompareOp::is);
    case Op::contains_op_: return comparison(value, it.arg ? CompareOp::not_in : CompareOp::in);
    case Op::to_bool_: {
      ValueExpression result = internal_call("bool", value);
      result.reads_memory = true;
      result.memory = value.memory;
      return result;
    }
    case Op::build_tuple_:
    case Op::build_list_:
    case Op::build_set_:
    case Op::build_map_:
    case Op::build_const_key_map_:
    case Op::build_slice_:
    case Op::build_string_:
    case Op::format_value_:
    case Op::convert_value_:
    case Op::list_to_tuple_: return display(value, it);
    case Op::list_append_:
    case Op::set_add_:
    case Op::map_add_:
    case Op::list_extend_:
    case Op::set_update_:
    case Op::dict_update_:
    case Op::dict_merge_: return addition(value, it);
    case Op::call_:
    case Op::call_kw_:
    case Op::call_function_:
    case Op::call_function_kw_:
    case Op::call_function_ex_: return call(value, it);
    case Op::unpack_sequence_:
    case Op::unpack_ex_: return unpacked(value, it);
    case Op::get_iter_:
    case Op::get_aiter_: {
      ValueExpression result = internal_call("iter", value);
      result.effects = true;
      return result;
    }
    case Op::for_iter_: return value.index >= jump_values ? note("nothing", true) : note("item of " + text(in[0]));
    case Op::get_len_: return note("length of the subject");
    case Op::import_name_: return note("module " + std::string(name(it.arg)));
    case Op::import_from_: return note("module's " + std::string(name(it.arg)));
    case Op::make_function_:
    case Op::set_function_attribute_: return note("function", true);
    case Op::before_with_:
    case Op::before_async_with_:
    case Op::setup_with_: return note(text(in[0]) + (value.index == 0 ? ".__exit__" : ".__enter__()"));
    case Op::with_except_start_: return note("result of __exit__");
    case Op::yield_value_:
    case Op::yield_from_: return note("sent to yield " + text(in.back()));
    case Op::send_: return note("result of sending to " + text(in[0]));
    case Op::get_awaitable_:
    case Op::get_yield_from_iter_: return note("awaitable of " + text(in[0]), true);
    case Op::return_generator_: return note("None, sent to start");
    case Op::check_exc_match_: return note("exception matches " + text(in.back()), true);
    case Op::match_sequence_:
    case Op::match_mapping_: return note("subject has the shape of the case", true);
    // The following operations push nothing, or a value without an expression in Python.
    case Op::nop_:
    case Op::pop_top_:
    case Op::copy_:
    case Op::swap_:
    case Op::rotate_:
    case Op::load_common_constant_:
    case Op::store_fast_:
    case Op::delete_fast_:
    case Op::store_name_:
    case Op::delete_name_:
    case Op::store_global_:
    case Op::delete_global_:
    case Op::store_deref_:
    case Op::delete_deref_:
    case Op::make_cell_:
    case Op::copy_free_vars_:
    case Op::store_attr_:
    case Op::delete_attr_:
    case Op::store_subscr_:
    case Op::delete_subscr_:
    case Op::store_slice_:
    case Op::build_template_:
    case Op::build_interpolation_:
    case Op::build_unpack_:
    case Op::intrinsic_1_:
    case Op::intrinsic_2_:
    case Op::import_star_:
    case Op::end_for_:
    case Op::pop_iter_:
    case Op::jump_:
    case Op::pop_jump_if_true_:
    case Op::pop_jump_if_false_:
    case Op::pop_jump_if_none_:
    case Op::pop_jump_if_not_none_:
    case Op::jump_if_true_or_pop_:
    case Op::jump_if_false_or_pop_:
    case Op::return_value_:
    case Op::raise_:
    case Op::reraise_:
    case Op::push_exc_info_:
    case Op::pop_except_:
    case Op::check_eg_match_:
    case Op::load_special_:
    case Op::get_anext_:
    case Op::end_async_for_:
    case Op::end_send_:
    case Op::cleanup_throw_:
    case Op::async_gen_wrap_:
    case Op::match_keys_:
    case Op::match_class_:
    case Op::copy_dict_without_keys_:
    case Op::match_case_:
    case Op::annotated_:
    case Op::comprehension_:
    case Op::setup_annotations_:
    case Op::print_expr_:
    case Op::setup_finally_:
    case Op::setup_async_with_:
    case Op::pop_block_:
    case Op::begin_finally_:
    case Op::end_finally_:
    case Op::call_finally_:
    case Op::pop_finally_:
    case Op::with_cleanup_start_:
    case Op::with_cleanup_finish_:
    case Op::with_exit_:
    case Op::protected_:
    case Op::behind_handlers_:
    case Op::unreachable_:
    case Op::resume_:
    case Op::unknown_: break;
  }
  return note(std::string(op_name(it.op)), true);
}

}  // namespace depyf
