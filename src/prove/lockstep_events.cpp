// Reads the event of each operation, which is the action that other code can observe, for two code objects that are run
// in step. The table of operations and the functions that it calls are in one file, so that both can be read together.
#include "prove/lockstep_events.h"

#include <bit>

#include "decode/decode.h"
#include "decode/op.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "prove/program.h"

namespace depyf::lockstep {

using Kind = Constant::Kind;

namespace {

// Returns an empty tuple, which some compiler versions build at run time and other versions load as a constant.
const Constant& empty_tuple() {
  static const Constant empty = [] {
    Constant constant;
    constant.kind = Kind::tuple;
    return constant;
  }();
  return empty;
}

}  // namespace

// After an exception has left the frame, there is one last event (observable action), whose operand is the exception.
bool EventReader::read(Frame& frame) {
  operands.clear();
  event = {};
  if (frame.at != left_frame) {
    event.op = code_.instructions[std::size_t(frame.at)].op;
    return code_.is_class_detail(frame.at) ? class_detail(frame) : show(frame);
  }
  event.op = Op::reraise_;
  event.then = Event::Then::end;
  event.raises = false;
  return add_operand(frame.stack.back());
}

// Fills in `event` for the next instruction of `frame`. The switch is a table that maps each operation to its event.
bool EventReader::show(Frame& frame) {
  const Instruction& instruction = code_.instructions[std::size_t(frame.at)];
  const Op op = instruction.op;
  const int arg = instruction.arg;
  switch (op) {
    case Op::load_const_: {
      const Constant* constant = code_.constant_at(frame.at);
      return frame.phase ? gathered(frame, constant->items, Op::build_tuple_) : loaded(constant);
    }
    case Op::load_int_: event.integer = arg; return loaded(nullptr);
    case Op::load_common_constant_: return raises_nothing(), simple(frame, instruction, arg);
    case Op::load_assertion_error_:
    case Op::load_locals_:
    case Op::return_generator_: return raises_nothing(), simple(frame, instruction, 0);

    case Op::store_fast_:
    case Op::load_closure_:
    case Op::make_cell_: return raises_nothing(), local(frame, instruction);
    case Op::load_fast_:
    case Op::delete_fast_:
    case Op::load_deref_:
    case Op::store_deref_:
    case Op::delete_deref_:
    case Op::load_class_deref_:
    case Op::load_from_dict_or_deref_: return local(frame, instruction);

    case Op::load_attr_:
    case Op::load_method_: return attribute(frame, instruction, 1);
    case Op::load_super_attr_: return attribute(frame, instruction, 3);
    case Op::load_global_:
    case Op::load_name_:
    case Op::delete_name_:
    case Op::store_name_:
    case Op::store_global_:
    case Op::delete_global_:
    case Op::load_from_dict_or_globals_:
    case Op::store_attr_:
    case Op::delete_attr_: return named(frame, instruction, 0);
    case Op::import_name_: return named(frame, instruction, instruction.aux);
    case Op::import_from_: event.name = &code_.decoded.names[std::size_t(arg)]; return peeks(frame, 1, 1);

    case Op::compare_op_: return frame.phase ? test(frame) : simple(frame, instruction, arg);
    case Op::to_bool_: return test(frame);
    case Op::unary_op_:
      return static_cast<UnaryOp>(arg) == UnaryOp::not_ ? test(frame) : simple(frame, instruction, arg);
    case Op::is_op_: return is_same(frame, instruction);
    case Op::contains_op_: event.boolean = true; return simple(frame, instruction, 0);
    case Op::pop_jump_if_none_:
    case Op::pop_jump_if_not_none_: return jump_if_none(frame, op);
    case Op::pop_jump_if_true_:
    case Op::pop_jump_if_false_:
    case Op::jump_if_true_or_pop_:
    case Op::jump_if_false_or_pop_: return jump_if(frame, op);

    case Op::build_list_:
      // `[1, 2, 3]` is compiled as an empty list that is extended by a constant tuple; the load of each item is read as
      // a separate event.
      if (code_.starts_list_of_constants(frame.at)) return gathered(frame, code_.constant_at(frame.at + 1)->items, op);
      return raises_nothing(), simple(frame, instruction, arg);
    case Op::build_tuple_:
      return arg == 0 ? loaded(&empty_tuple()) : (raises_nothing(), simple(frame, instruction, arg));
    case Op::build_slice_:
    case Op::build_map_:
    case Op::build_const_key_map_:
    case Op::build_string_:
    case Op::build_set_:
    case Op::convert_value_:
    case Op::intrinsic_1_:
    case Op::intrinsic_2_:
    case Op::get_awaitable_:
    case Op::load_special_:
    case Op::unpack_sequence_: return simple(frame, instruction, arg);
    case Op::binary_op_: return simple(frame, instruction, arg << 1 | instruction.aux);
    case Op::build_unpack_:
    case Op::build_interpolation_:
    case Op::format_value_: return simple(frame, instruction, arg << 3 | instruction.aux);
    case Op::unpack_ex_: return simple(frame, instruction, arg << 16 | instruction.aux);
    case Op::binary_subscr_:
    case Op::binary_slice_:
    case Op::store_subscr_:
    case Op::store_slice_:
    case Op::delete_subscr_:
    case Op::load_build_class_:
    case Op::import_star_:
    case Op::get_iter_:
    case Op::get_aiter_:
    case Op::get_yield_from_iter_:
    case Op::yield_from_:
    case Op::setup_annotations_:
    case Op::print_expr_:
    case Op::check_eg_match_:
    case Op::list_to_tuple_:
    case Op::async_gen_wrap_:
    case Op::before_with_:
    case Op::before_async_with_:
    case Op::build_template_: return simple(frame, instruction, 0);
    case Op::list_append_:
    case Op::set_add_:
    case Op::map_add_:
    case Op::list_extend_:
    case Op::set_update_:
    case Op::dict_update_:
    case Op::dict_merge_: return addition(frame, instruction);

    case Op::call_:
    case Op::call_kw_:
    case Op::call_function_:
    case Op::call_function_kw_: return call(frame, instruction);
    case Op::call_function_ex_: return call_expanded(frame, instruction);
    case Op::make_function_: return make_function(frame, instruction);

    case Op::for_iter_: event.then = Event::Then::iterate; return peeks(frame, 1, 1);
    case Op::send_: event.then = Event::Then::send; return code_.has_table && peeks(frame, 2, 1);
    case Op::yield_value_: return yield_value(frame, instruction);
    case Op::return_value_: event.then = Event::Then::end; return raises_nothing(), take(frame, 1);
    case Op::raise_: event.then = Event::Then::raise; return simple(frame, instruction, arg);

    case Op::check_exc_match_: return exception_match(frame);
    case Op::end_async_for_: return end_async_for(frame);
    case Op::setup_with_:
      event.op = Op::before_with_;
      event.pops = 1, event.results = 2;
      return !code_.has_table && take(frame, 1);
    case Op::with_cleanup_start_: return with_cleanup(frame);
    case Op::with_cleanup_finish_:
      return values_.is_truth(frame.stack.back()) ? branch(frame, true, false) : test(frame);
    case Op::cleanup_throw_:
      event.then = Event::Then::cleanup_throw;
      return code_.has_table && frame.stack.size() >= 3 && take(frame, 1);
    case Op::with_except_start_: return with_except_start(frame);

    case Op::get_anext_:
    case Op::get_len_: return peeks(frame, 1, 1);
    case Op::match_mapping_:
    case Op::match_sequence_: event.boolean = true; return raises_nothing(), peeks(frame, 1, 1);
    case Op::match_keys_:
    case Op::match_class_: return match_parts(frame, instruction);
    case Op::copy_dict_without_keys_: event.pops = 1; return peeks(frame, 2, 1);

    // The following operations have no event (observable action): `SilentSteps` executes some of them, and the rest are
    // created only by passes of flow/, which have not run.
    case Op::nop_:
    case Op::pop_top_:
    case Op::copy_:
    case Op::swap_:
    case Op::rotate_:
    case Op::push_null_:
    case Op::load_fast_and_clear_:
    case Op::copy_free_vars_:
    case Op::set_function_attribute_:
    case Op::end_for_:
    case Op::pop_iter_:
    case Op::jump_:
    case Op::reraise_:
    case Op::push_exc_info_:
    case Op::pop_except_:
    case Op::end_send_:
    case Op::match_case_:
    case Op::annotated_:
    case Op::comprehension_:
    case Op::setup_finally_:
    case Op::setup_async_with_:
    case Op::pop_block_:
    case Op::begin_finally_:
    case Op::end_finally_:
    case Op::call_finally_:
    case Op::pop_finally_:
    case Op::with_exit_:
    case Op::protected_:
    case Op::behind_handlers_:
    case Op::unreachable_:
    case Op::resume_:
    case Op::unknown_: return false;
  }
  return false;
}

// Fills in the event of a load of a constant. If `constant` is null, the constant is the integer in `event.integer`.
bool EventReader::loaded(const Constant* constant) {
  event.op = Op::load_const_;
  event.constant = constant;
  event.results = 1;
  event.raises = false;
  return true;
}

// Fills in the event of a load of an attribute. An attribute of super() has three operands: super, the class and self.
bool EventReader::attribute(const Frame& frame, const Instruction& instruction, int pops) {
  if (instruction.op == Op::load_super_attr_) event.detail = instruction.aux >> 1;
  else event.op = Op::load_attr_;
  event.name = &code_.decoded.names[std::size_t(instruction.arg)];
  event.pops = pops, event.results = 1;
  return take(frame, pops);
}

// Fills in the event of `is`, whose result is a boolean and which never raises.
bool EventReader::is_same(const Frame& frame, const Instruction& instruction) {
  event.boolean = true;
  raises_nothing();
  if (!simple(frame, instruction, 0)) return false;
  // The compiler decides whether two equal tuples of constants are one object, so the pass gives up at a test of
  // their identity.
  return !((values_.flags_of(operands[0]) & values_.flags_of(operands[1])) & is_tuple_of_constants);
}

// Fills in the next event of POP_JUMP_IF_NONE: first a test of identity with None, and then a branch on its result.
bool EventReader::jump_if_none(const Frame& frame, Op op) {
  if (frame.stack.empty()) return false;
  if (frame.phase != 0) return branch(frame, op == Op::pop_jump_if_none_, false);
  event.op = Op::is_op_;
  event.boolean = true;
  event.pops = 2, event.results = 1;
  raises_nothing();
  return add_operand(frame.stack.back()) && add_operand(none_value);
}

// Fills in the next event of a conditional jump: first a truth test, unless the value is known to be a boolean, and
// then a branch on the result.
bool EventReader::jump_if(const Frame& frame, Op op) {
  if (frame.stack.empty()) return false;
  const bool keeps = op == Op::jump_if_true_or_pop_ || op == Op::jump_if_false_or_pop_;
  const bool is_tested = keeps && frame.phase != 0;
  if (!is_tested && !values_.is_truth(frame.stack.back())) return test(frame);
  return branch(frame, op == Op::pop_jump_if_true_ || op == Op::jump_if_true_or_pop_, keeps);
}

// Fills in the event of adding values to a list, set or dict that lies below them on the stack.
bool EventReader::addition(const Frame& frame, const Instruction& instruction) {
  const int added = instruction.op == Op::map_add_ ? 2 : 1;
  const std::size_t depth = frame.stack.size();
  if (instruction.arg < 1 || depth < std::size_t(instruction.arg + added)) return false;
  event.pops = added;
  return add_operand(frame.stack[depth - std::size_t(instruction.arg + added)]) && take(frame, added);
}

bool EventReader::yield_value(const Frame& frame, const Instruction& instruction) {
  if (!simple(frame, instruction, 0)) return false;
  // True if a generator is suspended in an `await` or `yield from`, so that `throw()` on the generator is forwarded to
  // the awaited object.
  const bool resumes = code_.op_at(frame.at + 1) == Op::resume_;
  const bool delegates = dialect_of(code_.version).yield_tells_await
                             ? (instruction.arg & 1) != 0
                             : resumes && (code_.instructions[std::size_t(frame.at) + 1].arg & 3) >= 2;
  event.detail = code_.has_table && delegates;
  return true;
}

// Fills in the event of the test of an except clause, whose operands are the exception and the class in the clause.
// Up to 3.10 the stack has the class of the exception instead of the exception.
bool EventReader::exception_match(const Frame& frame) {
  event.boolean = true;
  event.pops = event.results = 1;
  if (code_.has_table) return take(frame, 2);
  event.pops = 2;
  const std::size_t depth = frame.stack.size();
  return depth >= 2 && frame.stack[depth - 2] % parts == class_part &&
         add_operand(frame.stack[depth - 2] - class_part) && add_operand(frame.stack.back());
}

// Fills in the event of MATCH_KEYS or MATCH_CLASS, whose result is None if nothing matches. Up to 3.10 MATCH_KEYS and
// MATCH_CLASS also push a bool, which is a second event: the test of the result for None.
bool EventReader::match_parts(const Frame& frame, const Instruction& instruction) {
  if (frame.phase != 0) {
    event.op = Op::is_op_;
    event.boolean = true;
    event.results = 1;
    raises_nothing();
    return take(frame, 1) && add_operand(none_value);
  }
  // If MATCH_CLASS of 3.10 does not match, the subject stays on the stack. The proof gives up if an instruction other
  // than POP_TOP uses this subject.
  if (!drops_unmatched_subject(code_.decoded, frame.at)) return false;
  const bool is_class = instruction.op == Op::match_class_;
  constexpr int class_operands = 3, keys_operands = 2;
  event.detail = is_class ? instruction.arg : 0;
  event.pops = is_class ? class_operands : 0;
  event.results = 1;
  return take(frame, is_class ? class_operands : keys_operands);
}

bool EventReader::end_async_for(const Frame& frame) {
  event.then = Event::Then::end_async_for;
  if (code_.has_table) return take(frame, 1);
  const std::size_t depth = frame.stack.size();
  return depth >= 2 && add_operand(frame.stack[depth - 2]);
}

bool EventReader::with_except_start(const Frame& frame) {
  const std::size_t depth = frame.stack.size();
  const bool has_self = dialect_of(code_.version).exit_with_self;
  const std::size_t exit = has_self ? 5 : code_.has_table ? 4 : 1 + 2 * exception_values;
  if (depth < exit) return false;
  event.results = 1;
  const Value exception = frame.stack[depth - (code_.has_table ? 1 : 2)];
  if (!add_operand(frame.stack[depth - exit]) || !add_operand(exception)) return false;
  if (has_self) operands.push_back(frame.stack[depth - 4]);
  return true;
}

bool EventReader::simple(const Frame& frame, const Instruction& instruction, std::int32_t detail) {
  const StackEffect effect = stack_effect(instruction, code_.version, false);
  event.detail = detail;
  event.pops = effect.pops, event.results = effect.pushes;
  return take(frame, effect.pops);
}
bool EventReader::named(const Frame& frame, const Instruction& instruction, std::int32_t detail) {
  event.name = &code_.decoded.names[std::size_t(instruction.arg)];
  if (!simple(frame, instruction, 0)) return false;
  event.detail = detail;
  return true;
}
bool EventReader::peeks(const Frame& frame, int count, int results) {
  event.results = results;
  return take(frame, count);
}
bool EventReader::local(const Frame& frame, const Instruction& instruction) {
  if (instruction.arg < 0 || std::size_t(instruction.arg) >= code_.decoded.localsplus.size()) return false;
  event.local = instruction.arg;
  return simple(frame, instruction, 0);
}

// Fills in the event of a truth test of a value that is no boolean.
bool EventReader::test(const Frame& frame) {
  event.op = Op::to_bool_;
  event.boolean = true;
  return take(frame, 1);
}

// Appends the callable of a call to the operands. The call consumes `pops` stack slots, and its callable is in the
// lowest two of them: NULL and one value, or else a function and its self.
bool EventReader::callable(const Frame& frame, int pops) {
  const std::size_t depth = frame.stack.size();
  const Value low = frame.stack[depth - std::size_t(pops)], high = frame.stack[depth - std::size_t(pops) + 1];
  if (low == null_value || high == null_value) return add_operand(low == null_value ? high : low);
  if (high % parts == self_part) return high - self_part == low && add_operand(low);
  return add_operand(low) && add_operand(high);
}

// Fills in the event of a call, in one form for all versions: the callable, its arguments, and the names of keyword
// arguments.
bool EventReader::call(const Frame& frame, const Instruction& instruction) {
  const Op op = instruction.op;
  const bool slots = op == Op::call_ || op == Op::call_kw_;
  const bool names_on_top = op == Op::call_kw_ || op == Op::call_function_kw_;
  const int pops = instruction.arg + 1 + slots + names_on_top;
  event.op = Op::call_;
  event.pops = pops, event.results = 1;
  if (instruction.arg < 0 || frame.stack.size() < std::size_t(pops)) return false;
  if (names_on_top) {
    // The tuple of keyword names must have been loaded by the LOAD_CONST just before the call.
    if (frame.stack.back() != names_of_call || frame.at == 0) return false;
    event.constant = code_.constant_at(frame.at - 1);
    if (!event.constant) return false;
  } else if (op == Op::call_ && instruction.aux >= 0) {
    event.constant = &code_.decoded.constant(instruction.aux);
  }
  if (event.constant && event.constant->kind == Kind::tuple && event.constant->items.empty()) event.constant = nullptr;
  if (slots ? !callable(frame, pops) : !add_operand(frame.stack[frame.stack.size() - std::size_t(pops)])) return false;
  const auto arguments = frame.stack.end() - (instruction.arg + names_on_top);
  for (auto value = arguments; value != arguments + instruction.arg; ++value)
    if (!add_operand(*value)) return false;
  return true;
}

// Fills in the event of `f(*args, **kwargs)`, with the callable, the tuple and the dict as operands.
bool EventReader::call_expanded(const Frame& frame, const Instruction& instruction) {
  const bool slot = instruction.aux & 1;
  const int pops = 2 + instruction.arg + slot;
  event.pops = pops, event.results = 1;
  const std::size_t depth = frame.stack.size();
  if (instruction.arg < 0 || instruction.arg > 1 || depth < std::size_t(pops)) return false;
  if (slot ? !callable(frame, pops) : !add_operand(frame.stack[depth - std::size_t(pops)])) return false;
  if (operands.size() > 1 || !add_operand(frame.stack[depth - 1 - std::size_t(instruction.arg)])) return false;
  const Value keywords = instruction.arg ? frame.stack.back() : null_value;
  return keywords == null_value || add_operand(keywords);
}

// Fills in one event for MAKE_FUNCTION and all SET_FUNCTION_ATTRIBUTE instructions that follow it, and moves `frame`
// to the last of these instructions.
bool EventReader::make_function(Frame& frame, const Instruction& instruction) {
  int code_at = frame.at - 1;
  if (instruction.aux) {
    const Constant* name = code_at >= 0 ? code_.constant_at(code_at) : nullptr;
    if (!name || name->kind != Kind::string || frame.stack.empty() || frame.stack.back() != qualified_name)
      return false;
    event.name = &name->text;
    frame.stack.pop_back();
    --code_at;
  }
  const Constant* nested = code_at >= 0 ? code_.constant_at(code_at) : nullptr;
  if (!nested || !nested->code || frame.stack.empty()) return false;
  if (!event.name) event.name = &nested->code->qualname;
  // Up to 3.10 the function that runs a class body has the unqualified name of the class, and only `__build_class__`
  // sees this function.
  if (has_unlike_names_ && !(nested->code->flags & CodeObject::optimized)) event.name = &nested->code->name;
  // The attributes are indexed by the bits of MAKE_FUNCTION: defaults, keyword defaults, annotations, closure,
  // annotate.
  constexpr int attributes = 5;
  Value set[attributes] = {};
  const Value function = frame.stack.back();
  frame.stack.pop_back();
  for (int attribute : {3, 2, 1, 0})
    if (instruction.arg & 1 << attribute) {
      if (frame.stack.empty()) return false;
      set[attribute] = frame.stack.back();
      frame.stack.pop_back();
      if (set[attribute] == null_value) return false;
    }
  while (code_.op_at(frame.at + 1) == Op::set_function_attribute_) {
    const int flag = code_.instructions[std::size_t(++frame.at)].arg;
    if (frame.stack.empty() || flag <= 0 || !std::has_single_bit(unsigned(flag)) || flag >= 1 << attributes)
      return false;
    Value& value = set[std::countr_zero(unsigned(flag))];
    if (value != null_value || frame.stack.back() == null_value) return false;
    value = frame.stack.back();
    frame.stack.pop_back();
  }
  operands.push_back(function);
  operands.insert(operands.end(), set, set + attributes);
  event.results = 1;
  event.raises = false;
  return true;
}

// Fills in the next event of a tuple or list of constants that is loaded item by item. The event is the load of the
// next item or, after the last item, the creation of the tuple or list.
bool EventReader::gathered(const Frame& frame, const std::vector<Constant>& items, Op build) {
  const auto index = std::size_t(frame.phase - 1);
  event.results = 1;
  event.raises = false;
  if (index < items.size()) {
    event.op = Op::load_const_;
    event.constant = &items[index];
    return true;
  }
  event.op = build;
  event.folded = build == Op::build_tuple_;
  event.detail = event.pops = std::int32_t(items.size());
  return take(frame, event.pops);
}

// Fills in the event of WITH_CLEANUP_START (3.8), a call of `__exit__`. The exit function lies below a NULL, a return
// address, or the six values of an exception.
bool EventReader::with_cleanup(const Frame& frame) {
  const std::size_t depth = frame.stack.size();
  if (code_.has_table || depth < 2) return false;
  event.results = 1;
  const Value reason = frame.stack.back();
  if (reason % parts == class_part) {
    constexpr std::size_t exit = 1 + 2 * exception_values;
    if (depth < exit || frame.blocks.empty() || frame.blocks.back().target != is_running ||
        frame.blocks.back().level < 1)
      return false;
    event.op = Op::with_except_start_;
    return add_operand(frame.stack[depth - exit]) && add_operand(reason - class_part);
  }
  if (reason != null_value && reason % parts != address_part) return false;
  event.op = Op::call_;
  if (!add_operand(frame.stack[depth - 2])) return false;
  operands.insert(operands.end(), exception_values, none_value);
  return true;
}

// Fills in the event of a store to `__firstlineno__` or `__static_attributes__`. The line in `__firstlineno__` is not
// compared, and the names in `__static_attributes__` are compared without their order, as in the walk of walk.h.
bool EventReader::class_detail(const Frame& frame) {
  const Instruction& store = code_.instructions[std::size_t(frame.at) + 1];
  event.op = Op::store_name_;
  event.detail = store.op == Op::store_global_ ? 2 : 1;  // 1: a store by name or to a cell; 2: a store to a global
  if (store.op == Op::store_deref_) event.local = store.arg;
  else event.name = &code_.decoded.names[std::size_t(store.arg)];
  if (frame.at == code_.attributes_at) event.constant = code_.constant_at(frame.at);
  return code_.handler_at(frame.at) == code_.handler_at(frame.at + 1);
}

// Fills in the event of a branch on a boolean. The operand is the boolean without its negation, so that `if x` and `if
// not x` are the same branch.
bool EventReader::branch(const Frame& frame, bool jumps_if, bool keeps) {
  event.op = Op::jump_;
  event.then = Event::Then::branch;
  event.raises = false;
  event.keeps = keeps;
  const Value tested = keeps && frame.phase ? frame.phase : frame.stack.back();
  const bool negated = tested % parts == negated_part;
  event.holds = jumps_if != negated;
  operands.push_back(negated ? negation(tested) : tested);
  return true;
}

}  // namespace depyf::lockstep
