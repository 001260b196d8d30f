// What each operation does to a frame.
#include "decode/decode.h"
#include "dialect/dialect.h"
#include "prove/machine.h"

namespace depyf {

// This is a table: what each operation does.
Step Machine::dispatch(const Instruction& it) {
  Side& side = frame();
  switch (it.op) {
    case Op::nop_:
    case Op::resume_: return silent();
    case Op::jump_: return go(it.target);
    case Op::pop_top_:
    case Op::end_for_:
    case Op::pop_iter_: return pop(), silent();
    case Op::copy_: return push(peek(it.arg)), silent();
    case Op::swap_:
      std::swap(side.stack[side.stack.size() - 1], side.stack[side.stack.size() - static_cast<std::size_t>(it.arg)]);
      return silent();
    case Op::rotate_: {
      Symbol moved = pop();
      side.stack.insert(side.stack.end() - (it.arg - 1), moved);
      return silent();
    }
    case Op::push_null_: return push(Symbols::null), silent();
    case Op::load_const_: return push(program_.constants[static_cast<std::size_t>(it.arg)]), silent();
    case Op::load_int_: return push(symbols_.integer(it.arg)), silent();
    case Op::load_common_constant_: return push(symbols_.known("common constant " + std::to_string(it.arg))), silent();
    case Op::load_assertion_error_: return push(symbols_.known("AssertionError")), silent();
    case Op::load_locals_: return push(symbols_.known("the locals")), silent();

    case Op::load_fast_:
    case Op::load_closure_:
    case Op::delete_fast_: return load_local(it);
    case Op::load_fast_and_clear_:
      push(local(it));
      local(it) = Symbols::null;
      return silent();
    case Op::store_fast_: return local(it) = pop(), silent();
    case Op::load_deref_: return load_cell(it);
    case Op::store_deref_: return store_cell(it);
    case Op::delete_deref_: return delete_cell(it);
    case Op::load_class_deref_:
    case Op::load_from_dict_or_deref_: return class_cell(it);
    case Op::make_cell_: return local(it) = make(Object::Kind::cell, {local(it)}), silent();
    case Op::copy_free_vars_: return copy_free_variables();

    case Op::load_attr_:
    case Op::load_method_: return load_attribute(it);
    case Op::load_super_attr_: return load_super_attribute(it);
    case Op::import_name_: return import_name(it);
    case Op::import_from_: return import_from(it);

    case Op::compare_op_: return compare(it);
    case Op::is_op_: return compare_identity(it);
    case Op::contains_op_: return contains(it);
    case Op::unary_op_: return unary(it);
    case Op::to_bool_: return to_bool();
    case Op::binary_op_: return simple(it, it.arg << 1 | it.aux);
    case Op::pop_jump_if_true_:
    case Op::pop_jump_if_false_:
    case Op::pop_jump_if_none_:
    case Op::pop_jump_if_not_none_:
    case Op::jump_if_true_or_pop_:
    case Op::jump_if_false_or_pop_: return branch(it);

    case Op::build_tuple_:
    case Op::build_list_: return build(it);
    case Op::build_map_:
    case Op::build_const_key_map_: return build_map(it);
    case Op::build_slice_: return build_slice(it.arg);
    case Op::build_string_: return build_string(it);
    case Op::build_unpack_: return simple(it, it.arg << 3 | it.aux);
    case Op::list_append_:
    case Op::set_add_:
    case Op::map_add_: return append(it);
    case Op::list_extend_:
    case Op::set_update_: return extend(it);
    case Op::dict_update_:
    case Op::dict_merge_: return merge(it);
    case Op::list_to_tuple_: return list_to_tuple();
    case Op::binary_subscr_:
    case Op::binary_slice_: return subscript(it);
    case Op::store_subscr_:
    case Op::store_slice_: return store_subscript(it);
    case Op::delete_subscr_: return delete_subscript(it);
    case Op::unpack_sequence_:
    case Op::unpack_ex_: return unpack(it);

    case Op::call_:
    case Op::call_kw_:
    case Op::call_function_:
    case Op::call_function_kw_: return call(it);
    case Op::call_function_ex_: return call_expanded(it);
    case Op::make_function_: return make_function(it);
    case Op::set_function_attribute_: return set_function_attribute(it);

    case Op::for_iter_: return for_iter(it);
    case Op::send_: return send(it);
    case Op::end_send_: {
      Symbol value = pop();
      side.stack.back() = value;
      return silent();
    }
    case Op::yield_value_: return yield_value(it);
    case Op::async_gen_wrap_: return push(make(Object::Kind::wrapped, {pop()})), silent();
    case Op::return_value_: return return_value(it);
    case Op::raise_: {
      Step step = simple(it, it.arg);
      outcome_.effect.returns = false;
      return step;
    }
    case Op::return_generator_: return return_generator(it);

    case Op::reraise_: return reraise(it);
    case Op::push_exc_info_: return push_exc_info();
    case Op::pop_except_: return pop_except();
    case Op::check_exc_match_: return exception_match(it);
    case Op::end_async_for_: return end_async_for();
    case Op::cleanup_throw_: return cleanup_throw();
    case Op::with_except_start_: return with_except_start();
    case Op::setup_finally_:
    case Op::setup_with_:
    case Op::setup_async_with_:
    case Op::pop_block_: return blocks(it);

    case Op::get_anext_: return peeks(it.op, 1, 1);
    case Op::get_len_: return peeks(it.op, 1, 1);
    case Op::match_mapping_:
    case Op::match_sequence_: return peeks(it.op, 1, 1, true, false);
    case Op::match_keys_: return peeks(it.op, 2, stack_effect(it, program_.version(), false).pushes);
    case Op::copy_dict_without_keys_: return copy_without_keys(it);

    case Op::store_name_: return store_name(it);
    case Op::load_global_: return load_global(it);
    case Op::load_name_:
    case Op::delete_name_:
    case Op::store_global_:
    case Op::delete_global_:
    case Op::load_from_dict_or_globals_:
    case Op::store_attr_:
    case Op::delete_attr_: return named(it);

    case Op::load_build_class_:
    case Op::import_star_:
    case Op::get_iter_:
    case Op::get_aiter_:
    case Op::get_yield_from_iter_:
    case Op::yield_from_:
    case Op::setup_annotations_:
    case Op::print_expr_:
    case Op::check_eg_match_:
    case Op::build_template_: return simple(it, 0);
    case Op::build_set_:
    case Op::build_interpolation_:
    case Op::format_value_:
    case Op::convert_value_:
    case Op::intrinsic_1_:
    case Op::intrinsic_2_:
    case Op::get_awaitable_:
    case Op::load_special_:
    case Op::match_class_: return simple(it, it.arg);
    case Op::before_with_:
    case Op::before_async_with_: return simple(it, 0);

    case Op::begin_finally_:
    case Op::end_finally_:
    case Op::call_finally_:
    case Op::pop_finally_:
    case Op::with_cleanup_start_:
    case Op::with_cleanup_finish_: return finally38(it);
    // What flow passes make; the prover takes code as it was decoded.
    case Op::annotated_:
    case Op::comprehension_:
    case Op::match_case_:
    case Op::with_exit_:
    case Op::protected_:
    case Op::behind_handlers_:
    case Op::unreachable_:
    case Op::unknown_: break;
  }
  return stuck("an operation that the prover does not know: " + std::string(op_name(it.op)));
}

Step Machine::copy_free_variables() {
  Side& side = frame();
  for (std::size_t i = static_cast<std::size_t>(program_.decoded.first_free); i < side.locals.size(); ++i) {
    side.locals[i] = symbols_.known("free variable " + std::string(program_.decoded.localsplus[i]));
  }
  return silent();
}

Step Machine::load_super_attribute(const Instruction& it) {
  if (program_.across(&Dialect::super_attributes)) return super_attribute(it);
  Effect made{
      .op = it.op, .detail = it.aux >> 1, .name = program_.names[static_cast<std::size_t>(it.arg)], .operands = top(3)};
  made.pops = 3, made.results = 1, made.method = it.aux & 1;
  return effect(std::move(made));
}

Step Machine::import_name(const Instruction& it) {
  Step step = named(it);
  outcome_.effect.detail = it.aux;
  return step;
}

Step Machine::import_from(const Instruction& it) {
  Step step = peeks(it.op, 1, 1);
  outcome_.effect.name = program_.names[static_cast<std::size_t>(it.arg)];
  return step;
}

Step Machine::compare(const Instruction& it) {
  Side& side = frame();
  if (side.second) {
    Step step = Step::silent;
    Symbol truth_value = truth(peek(1), step);
    if (truth_value < 0) return step;
    side.second = false, side.stack.back() = truth_value;
    return silent();
  }
  if (Step folded = constant_test(it); folded == Step::silent) return folded;
  Step step = simple(it, it.arg);
  outcome_.effect.half = it.aux;
  return step;
}

Step Machine::compare_identity(const Instruction& it) {
  Symbol test = symbols_.is(peek(2), peek(1));
  if (test < 0) return stuck("a value that is not understood");
  drop(2);
  test = fact(test);
  push(it.arg ? symbols_.negation(test) : test);
  return peek(1) < 0 ? stuck("a value that is not understood") : silent();
}

Step Machine::contains(const Instruction& it) {
  Step step = simple(it, 0);
  if (step == Step::effect) outcome_.effect.operands[1] = symbols_.unordered(peek(1));
  outcome_.effect.boolean = true, outcome_.effect.negated = it.arg;
  return step;
}

Step Machine::unary(const Instruction& it) {
  Side& side = frame();
  if (static_cast<UnaryOp>(it.arg) != UnaryOp::not_) return simple(it, it.arg);
  Step step = Step::silent;
  Symbol test = truth(peek(1), step);
  if (test < 0) return step;
  side.stack.back() = symbols_.negation(test);
  return side.stack.back() < 0 ? stuck("a value that is not understood") : silent();
}

Step Machine::to_bool() {
  Side& side = frame();
  Step step = Step::silent;
  Symbol test = truth(peek(1), step);
  if (test < 0) return step;
  side.stack.back() = test;
  return silent();
}

Step Machine::build_string(const Instruction& it) {
  Parts parts = top(it.arg);
  if (program_.across(&Dialect::ends_format_specs)) std::erase(parts, symbols_.string(""));  // the end of a format spec
  Symbol text = symbols_.term("string of", std::move(parts));
  if (text < 0) return simple(it, it.arg);
  drop(it.arg);
  push(text);
  return silent();
}

Step Machine::for_iter(const Instruction& it) {
  Effect made{.op = it.op, .operands = top(1)};
  made.then = Effect::Then::iterate, made.results = 1;
  return effect(std::move(made));
}

Step Machine::send(const Instruction& it) {
  Effect made{.op = it.op, .operands = top(2)};
  made.then = Effect::Then::send, made.results = 1;
  return effect(std::move(made));
}

Step Machine::yield_value(const Instruction& it) {
  Side& side = frame();
  Step step = simple(it, 0);
  const Instruction& next = program_.decoded.instructions[static_cast<std::size_t>(side.at) + 1];
  // Does throw() go to what is being waited for?
  bool delegates = program_.dialect().yield_tells_await ? it.arg & 1 : next.op == Op::resume_ && (next.arg & 3) >= 2;
  outcome_.effect.detail = program_.has_table() && delegates;
  return step;
}

Step Machine::return_value(const Instruction& it) {
  Effect made{.op = it.op, .operands = top(1), .then = Effect::Then::end, .raises = false};
  if (symbols_.may_be_null(peek(1))) return stuck("no value where one is needed");
  return effect(std::move(made));
}

Step Machine::return_generator(const Instruction& it) {
  // To 3.10 a generator starts without an instruction that says so.
  if (program_.across(&Dialect::returned_generators)) return push(symbols_.known("what starts a generator")), silent();
  Effect made{.op = it.op, .results = 1};
  made.raises = false;
  return effect(std::move(made));
}

Step Machine::push_exc_info() {
  Side& side = frame();
  Symbol exception = pop();
  push(side.handled);
  push(exception);
  side.handled = exception;
  return silent();
}

Step Machine::copy_without_keys(const Instruction& it) {
  Step step = peeks(it.op, 2, 1);
  outcome_.effect.pops = 1;
  return step;
}

Step Machine::store_name(const Instruction& it) {
  Side& side = frame();
  if (program_.across(&Dialect::class_details) &&
      (side.at == program_.stores_line || side.at == program_.stores_attributes)) {
    return pop(), silent();
  }
  return named(it);
}

Step Machine::load_global(const Instruction& it) {
  if (Symbol value = program_.installed[static_cast<std::size_t>(it.arg)]; value != Symbols::null) {
    return push(value), silent();
  }
  return named(it);
}

}  // namespace depyf
