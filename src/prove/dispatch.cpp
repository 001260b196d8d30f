// Defines what each operation does to a frame, in one table over all operations.
#include "prove/dispatch.h"
#include "decode/decode.h"
#include "decode/op.h"
#include "dialect/dialect.h"
#include "prove/branches.h"
#include "prove/calls.h"
#include "prove/displays.h"
#include "prove/exceptions.h"
#include "prove/finally38.h"
#include "prove/frame_values.h"
#include "prove/methods.h"

namespace depyf::operations {

namespace {

// The cells of free variables are the same for both code objects, so the name of a free variable determines the
// symbol of its cell.
Step copy_free_variables(Symbols& symbols, const Program& program, Frame& frame) {
  Side& side = frame.side();
  for (std::size_t i = static_cast<std::size_t>(program.decoded.first_free); i < side.locals.size(); ++i) {
    side.locals[i] = symbols.known("free variable " + std::string(program.decoded.localsplus[i]));
  }
  return frame.silent();
}

// Executes LOAD_SUPER_ATTR. If the Python version of the other code object has no LOAD_SUPER_ATTR, the instruction is
// split into a call of super() and a load of an attribute.
Step load_super_attribute(Execution& run, const Instruction& it) {
  if (run.program.across(&Dialect::super_attributes)) return super_attribute(run, it);
  Effect made{.op = it.op,
              .detail = it.aux >> 1,
              .name = run.program.names[static_cast<std::size_t>(it.arg)],
              .operands = run.frame.top(3)};
  made.pops = 3, made.results = 1, made.method = it.aux & 1;
  return run.effect(std::move(made));
}

Step import_name(Execution& run, const Instruction& it) {
  Step step = run.named(it);
  run.outcome.effect.detail = it.aux;
  return step;
}

Step import_from(Execution& run, const Instruction& it) {
  Step step = run.peeks(it.op, 1, 1);
  run.outcome.effect.name = run.program.names[static_cast<std::size_t>(it.arg)];
  return step;
}

// Executes COMPARE_OP, whose second half (3.13 and later) converts the result to a boolean.
Step compare(Execution& run, const Instruction& it) {
  Side& side = run.frame.side();
  if (side.second) {
    Step step = Step::silent;
    Symbol truth_value = run.truth(run.frame.peek(1), step);
    if (truth_value < 0) return step;
    side.second = false, side.stack.back() = truth_value;
    return run.frame.silent();
  }
  if (Step folded = constant_test(run.symbols, run.frame, it); folded == Step::silent) return folded;
  Step step = run.simple(it, it.arg);
  run.outcome.effect.half = it.aux;
  return step;
}

Step compare_identity(Execution& run, const Instruction& it) {
  Symbol test = run.symbols.is(run.frame.peek(2), run.frame.peek(1));
  if (test < 0) return run.stuck("a value that the prover does not know");
  run.frame.drop(2);
  test = run.frame.fact(test);
  run.frame.push(it.arg ? run.symbols.negation(test) : test);
  return run.frame.peek(1) < 0 ? run.stuck("a value that the prover does not know") : run.frame.silent();
}

Step contains(Execution& run, const Instruction& it) {
  Step step = run.simple(it, 0);
  if (step == Step::effect) run.outcome.effect.operands[1] = run.symbols.unordered(run.frame.peek(1));
  run.outcome.effect.boolean = true, run.outcome.effect.negated = it.arg;
  return step;
}

Step unary(Execution& run, const Instruction& it) {
  Side& side = run.frame.side();
  if (static_cast<UnaryOp>(it.arg) != UnaryOp::not_) return run.simple(it, it.arg);
  Step step = Step::silent;
  Symbol test = run.truth(run.frame.peek(1), step);
  if (test < 0) return step;
  side.stack.back() = run.symbols.negation(test);
  return side.stack.back() < 0 ? run.stuck("a value that the prover does not know") : run.frame.silent();
}

Step to_bool(Execution& run) {
  // `not x` and TO_BOOL have no effect beyond the truth test of their operand.
  Side& side = run.frame.side();
  Step step = Step::silent;
  Symbol test = run.truth(run.frame.peek(1), step);
  if (test < 0) return step;
  side.stack.back() = test;
  return run.frame.silent();
}

// Executes BUILD_STRING. Joining strings is a pure function, so a term over the parts represents the result.
Step build_string(Execution& run, const Instruction& it) {
  Parts parts = run.frame.top(it.arg);
  // Some Python versions end a format specification with an empty string, which does not change the result.
  if (run.program.across(&Dialect::ends_format_specs)) std::erase(parts, run.symbols.string(""));
  Symbol text = run.symbols.term("string of", std::move(parts));
  if (text < 0) return run.simple(it, it.arg);
  run.frame.drop(it.arg);
  run.frame.push(text);
  return run.frame.silent();
}

Step for_iter(Execution& run, const Instruction& it) {
  Effect made{.op = it.op, .operands = run.frame.top(1)};
  made.then = Effect::Then::iterate, made.results = 1;
  return run.effect(std::move(made));
}

Step send(Execution& run, const Instruction& it) {
  Effect made{.op = it.op, .operands = run.frame.top(2)};
  made.then = Effect::Then::send, made.results = 1;
  return run.effect(std::move(made));
}

Step yield_value(Execution& run, const Instruction& it) {
  Side& side = run.frame.side();
  Step step = run.simple(it, 0);
  const Instruction& next = run.program.decoded.instructions[static_cast<std::size_t>(side.at) + 1];
  // True if a generator is suspended in an `await` or `yield from`, so that `throw()` on the generator is forwarded to
  // the awaited object.
  bool delegates = run.program.dialect().yield_tells_await ? it.arg & 1 : next.op == Op::resume_ && (next.arg & 3) >= 2;
  run.outcome.effect.detail = run.program.has_table() && delegates;
  return step;
}

Step return_value(Execution& run, const Instruction& it) {
  Effect made{.op = it.op, .operands = run.frame.top(1), .then = Effect::Then::end, .raises = false};
  if (run.symbols.may_be_null(run.frame.peek(1))) return run.stuck("no value where one is needed");
  return run.effect(std::move(made));
}

Step return_generator(Execution& run, const Instruction& it) {
  // RETURN_GENERATOR is no effect if the other code object's version starts generators without an instruction.
  if (run.program.across(&Dialect::returned_generators))
    return run.frame.push(run.symbols.known("what starts a generator")), run.frame.silent();
  Effect made{.op = it.op, .results = 1};
  made.raises = false;
  return run.effect(std::move(made));
}

// Executes PUSH_EXC_INFO: inserts the handled exception below the exception on top of the stack, and then makes the top
// exception the handled exception.
Step push_exc_info(Frame& frame) {
  Side& side = frame.side();
  Symbol exception = frame.pop();
  frame.push(side.handled);
  frame.push(exception);
  side.handled = exception;
  return frame.silent();
}

// Executes MATCH_KEYS or MATCH_CLASS. Up to 3.10 MATCH_KEYS and MATCH_CLASS also push a bool above their result, which
// corresponds to the test `is None` that later versions compile separately.
Step match_parts(Execution& run, const Instruction& it) {
  Side& side = run.frame.side();
  if (side.second) {
    const Symbol test = run.symbols.is(run.frame.peek(1), run.symbols.none());
    if (test < 0) return run.stuck("a value that the prover does not know");
    side.second = false;
    run.frame.push(run.symbols.negation(run.frame.fact(test)));
    return run.frame.peek(1) < 0 ? run.stuck("a value that the prover does not know") : run.frame.silent();
  }
  const bool is_class = it.op == Op::match_class_;
  const bool tests_later = run.program.across(&Dialect::pushed_pattern_tests);
  if (tests_later && !drops_unmatched_subject(run.program.decoded, side.at))
    return run.stuck("a subject that is used where its class does not match");
  const Step step =
      is_class ? run.simple(it, it.arg) : run.peeks(it.op, 2, stack_effect(it, run.program.version(), false).pushes);
  if (step == Step::effect && tests_later) {
    run.outcome.effect.results = 1;
    run.outcome.effect.half = run.program.dialect().pushed_pattern_tests;
  }
  return step;
}

Step copy_without_keys(Execution& run, const Instruction& it) {
  Step step = run.peeks(it.op, 2, 1);
  run.outcome.effect.pops = 1;
  return step;
}

// The stores to `__firstlineno__` and `__static_attributes__` in class bodies (3.13 and later) are ignored if the
// Python version of the other code object does not emit them.
Step store_name(Execution& run, const Instruction& it) {
  Side& side = run.frame.side();
  if (run.program.across(&Dialect::class_details) &&
      (side.at == run.program.stores_line || side.at == run.program.stores_attributes)) {
    return run.frame.pop(), run.frame.silent();
  }
  return run.named(it);
}

// A global that Dynamo installed is known to exist and to keep its value, so loading it is no effect.
Step load_global(Execution& run, const Instruction& it) {
  if (Symbol value = run.program.installed[static_cast<std::size_t>(it.arg)]; value != Symbols::null) {
    return run.frame.push(value), run.frame.silent();
  }
  return run.named(it);
}

}  // namespace

// Executes one instruction. The switch is a table that maps each operation to the code that executes it.
Step dispatch(Execution& run, const Instruction& it) {
  Side& side = run.frame.side();
  switch (it.op) {
    case Op::nop_:
    case Op::resume_: return run.frame.silent();
    case Op::jump_: return run.frame.go(it.target);
    case Op::pop_top_:
    case Op::end_for_:
    case Op::pop_iter_: return run.frame.pop(), run.frame.silent();
    case Op::copy_: return run.frame.push(run.frame.peek(it.arg)), run.frame.silent();
    case Op::swap_:
      std::swap(side.stack[side.stack.size() - 1], side.stack[side.stack.size() - static_cast<std::size_t>(it.arg)]);
      return run.frame.silent();
    case Op::rotate_: {
      Symbol moved = run.frame.pop();
      side.stack.insert(side.stack.end() - (it.arg - 1), moved);
      return run.frame.silent();
    }
    case Op::push_null_: return run.frame.push(Symbols::null), run.frame.silent();
    case Op::load_const_:
      return run.frame.push(run.program.constants[static_cast<std::size_t>(it.arg)]), run.frame.silent();
    case Op::load_int_: return run.frame.push(run.symbols.integer(it.arg)), run.frame.silent();
    case Op::load_common_constant_:
      return run.frame.push(run.symbols.known("common constant " + std::to_string(it.arg))), run.frame.silent();
    case Op::load_assertion_error_: return run.frame.push(run.symbols.known("AssertionError")), run.frame.silent();
    case Op::load_locals_: return run.frame.push(run.symbols.known("the locals")), run.frame.silent();

    case Op::load_fast_:
    case Op::load_closure_:
    case Op::delete_fast_: return load_local(run, it);
    case Op::load_fast_and_clear_:
      run.frame.push(run.frame.local(it));
      run.frame.local(it) = Symbols::null;
      return run.frame.silent();
    case Op::store_fast_: return run.frame.local(it) = run.frame.pop(), run.frame.silent();
    case Op::load_deref_: return load_cell(run, it);
    case Op::store_deref_: return store_cell(run, it);
    case Op::delete_deref_: return delete_cell(run, it);
    case Op::load_class_deref_:
    case Op::load_from_dict_or_deref_: return class_cell(run, it);
    case Op::make_cell_:
      return run.frame.local(it) = run.frame.make(Object::Kind::cell, {run.frame.local(it)}), run.frame.silent();
    case Op::copy_free_vars_: return copy_free_variables(run.symbols, run.program, run.frame);

    case Op::load_attr_:
    case Op::load_method_: return load_attribute(run, it);
    case Op::load_super_attr_: return load_super_attribute(run, it);
    case Op::import_name_: return import_name(run, it);
    case Op::import_from_: return import_from(run, it);

    case Op::compare_op_: return compare(run, it);
    case Op::is_op_: return compare_identity(run, it);
    case Op::contains_op_: return contains(run, it);
    case Op::unary_op_: return unary(run, it);
    case Op::to_bool_: return to_bool(run);
    case Op::binary_op_: return run.simple(it, it.arg << 1 | it.aux);
    case Op::pop_jump_if_true_:
    case Op::pop_jump_if_false_:
    case Op::pop_jump_if_none_:
    case Op::pop_jump_if_not_none_:
    case Op::jump_if_true_or_pop_:
    case Op::jump_if_false_or_pop_: return branch(run, it);

    case Op::build_tuple_:
    case Op::build_list_: return build(run, it);
    case Op::build_map_:
    case Op::build_const_key_map_: return build_map(run, it);
    case Op::build_slice_: return build_slice(run, it.arg);
    case Op::build_string_: return build_string(run, it);
    case Op::build_unpack_: return run.simple(it, it.arg << 3 | it.aux);
    case Op::list_append_:
    case Op::set_add_:
    case Op::map_add_: return append(run, it);
    case Op::list_extend_:
    case Op::set_update_: return extend(run, it);
    case Op::dict_update_:
    case Op::dict_merge_: return merge(run, it);
    case Op::list_to_tuple_: return list_to_tuple(run);
    case Op::binary_subscr_:
    case Op::binary_slice_: return subscript(run, it);
    case Op::store_subscr_:
    case Op::store_slice_: return store_subscript(run, it);
    case Op::delete_subscr_: return delete_subscript(run, it);
    case Op::unpack_sequence_:
    case Op::unpack_ex_: return unpack(run, it);

    case Op::call_:
    case Op::call_kw_:
    case Op::call_function_:
    case Op::call_function_kw_: return call(run, it);
    case Op::call_function_ex_: return call_expanded(run, it);
    case Op::make_function_: return make_function(run, it);
    case Op::set_function_attribute_: return set_function_attribute(run, it);

    case Op::for_iter_: return for_iter(run, it);
    case Op::send_: return send(run, it);
    case Op::end_send_: {
      Symbol value = run.frame.pop();
      side.stack.back() = value;
      return run.frame.silent();
    }
    case Op::yield_value_: return yield_value(run, it);
    case Op::async_gen_wrap_:
      return run.frame.push(run.frame.make(Object::Kind::wrapped, {run.frame.pop()})), run.frame.silent();
    case Op::return_value_: return return_value(run, it);
    case Op::raise_: {
      Step step = run.simple(it, it.arg);
      run.outcome.effect.returns = false;
      return step;
    }
    case Op::return_generator_: return return_generator(run, it);

    case Op::reraise_: return reraise(run, it);
    case Op::push_exc_info_: return push_exc_info(run.frame);
    case Op::pop_except_: return pop_except(run);
    case Op::check_exc_match_: return exception_match(run, it);
    case Op::end_async_for_: return end_async_for(run);
    case Op::cleanup_throw_: return cleanup_throw(run);
    case Op::with_except_start_: return with_except_start(run);
    case Op::setup_finally_:
    case Op::setup_with_:
    case Op::setup_async_with_:
    case Op::pop_block_: return blocks(run, it);

    case Op::get_anext_: return run.peeks(it.op, 1, 1);
    case Op::get_len_: return run.peeks(it.op, 1, 1);
    case Op::match_mapping_:
    case Op::match_sequence_: return run.peeks(it.op, 1, 1, true, false);
    case Op::match_keys_:
    case Op::match_class_: return match_parts(run, it);
    case Op::copy_dict_without_keys_: return copy_without_keys(run, it);

    case Op::store_name_: return store_name(run, it);
    case Op::load_global_: return load_global(run, it);
    case Op::load_name_:
    case Op::delete_name_:
    case Op::store_global_:
    case Op::delete_global_:
    case Op::load_from_dict_or_globals_:
    case Op::store_attr_:
    case Op::delete_attr_: return run.named(it);

    case Op::load_build_class_:
    case Op::import_star_:
    case Op::get_iter_:
    case Op::get_aiter_:
    case Op::get_yield_from_iter_:
    case Op::yield_from_:
    case Op::setup_annotations_:
    case Op::print_expr_:
    case Op::check_eg_match_:
    case Op::build_template_: return run.simple(it, 0);
    case Op::build_set_:
    case Op::build_interpolation_:
    case Op::format_value_:
    case Op::convert_value_:
    case Op::intrinsic_1_:
    case Op::intrinsic_2_:
    case Op::get_awaitable_:
    case Op::load_special_: return run.simple(it, it.arg);
    case Op::before_with_:
    case Op::before_async_with_: return run.simple(it, 0);

    case Op::begin_finally_:
    case Op::end_finally_:
    case Op::call_finally_:
    case Op::pop_finally_:
    case Op::with_cleanup_start_:
    case Op::with_cleanup_finish_: return finally38(run, it);
    // The following operations are created only by passes of flow/ that do not run for the prover, so the prover
    // never executes them.
    case Op::annotated_:
    case Op::comprehension_:
    case Op::match_case_:
    case Op::with_exit_:
    case Op::protected_:
    case Op::behind_handlers_:
    case Op::unreachable_:
    case Op::unknown_: break;
  }
  return run.stuck("an operation that the prover does not know: " + std::string(op_name(it.op)));
}

}  // namespace depyf::operations
