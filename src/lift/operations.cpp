// What each operation does to the stack.
#include <algorithm>

#include "decode/op_info.h"
#include "lift/lifter.h"

namespace depyf {
using namespace ast;

namespace {
// A part of a slice; None stands for one that is left out.
Expr* unless_none(Expr* expr) { return is_none(expr) ? nullptr : expr; }
}  // namespace

// This is a table: what simulates each operation. A group whose functions take more than a few lines has a file named for
// what it makes.
void Lifter::operation(const Instruction& instruction) {
  const int arg = instruction.arg;
  switch (instruction.op) {
    case Op::pop_top_: return pop_top();
    case Op::copy_: return copy(arg);
    case Op::swap_: return swap(arg);
    case Op::rotate_: return rotate(arg);
    case Op::push_null_: return push(Internal{Marker::null, 0, nullptr});
    case Op::load_const_: return load_const(arg);
    case Op::load_int_: return push(context_.constant(Constant::Kind::integer, std::to_string(arg))->node);
    case Op::load_common_constant_: return load_common_constant(CommonName(arg));
    case Op::load_assertion_error_: return load_common_constant(CommonName::assertion_error);
    case Op::load_fast_:
    case Op::load_deref_:
    case Op::load_class_deref_: return push(local(arg));
    case Op::load_name_:
    case Op::load_global_: return push(Name{name_of(arg)});
    case Op::load_from_dict_or_deref_: return pop(), push(local(arg));
    case Op::load_from_dict_or_globals_: return pop(), push(Name{name_of(arg)});
    case Op::load_locals_: return push(Internal{Marker::locals, 0, nullptr});
    case Op::load_closure_: return load_closure(arg);
    case Op::load_build_class_: return push(Internal{Marker::build_class, 0, nullptr});
    case Op::load_attr_: return push(attribute(pop(), name_of(arg)));
    case Op::load_method_: push(attribute(pop(), name_of(arg))); return push(Internal{Marker::null, 1, nullptr});
    case Op::load_super_attr_: return super_attribute(instruction);
    case Op::import_name_: return import_name();

    case Op::unary_op_: return push(UnaryExpr{UnaryOp(arg), pop()});
    case Op::binary_op_: return binary(BinaryOp(arg), instruction.aux != 0);
    case Op::compare_op_: return compare(CompareOp(arg));
    case Op::is_op_: return compare(arg ? CompareOp::is_not : CompareOp::is);
    case Op::contains_op_: return compare(arg ? CompareOp::not_in : CompareOp::in);
    case Op::to_bool_: return to_bool();
    case Op::binary_subscr_:
    case Op::binary_slice_: return push(subscript(instruction.op == Op::binary_slice_, false));
    case Op::get_len_: return length();
    case Op::get_iter_:
    case Op::get_aiter_: return push(Internal{Marker::iterator, at_, pop()});

    case Op::build_tuple_: return push(Tuple{context_.arena.copy(pop_many(arg))});
    case Op::build_list_: return push(ListExpr{context_.arena.copy(pop_many(arg))});
    case Op::build_set_: return push(SetExpr{context_.arena.copy(pop_many(arg))});
    case Op::build_map_: return build_dict(arg, false);
    case Op::build_const_key_map_: return build_dict(arg, true);
    case Op::build_slice_: return build_slice(arg);
    case Op::build_string_: return join_string(arg);
    case Op::build_unpack_: return build_unpack(instruction);
    case Op::build_template_: return build_template();
    case Op::build_interpolation_: return build_interpolation(instruction);
    case Op::format_value_: return format(instruction);
    case Op::convert_value_: return convert(arg);
    case Op::list_to_tuple_: return list_to_tuple();
    case Op::list_append_:
    case Op::set_add_:
    case Op::map_add_:
    case Op::list_extend_:
    case Op::set_update_:
    case Op::dict_update_:
    case Op::dict_merge_: return extend(instruction);

    case Op::call_:
    case Op::call_kw_:
    case Op::call_function_:
    case Op::call_function_kw_: return call(instruction);
    case Op::call_function_ex_: return call_ex(instruction);
    case Op::make_function_: return make_function(instruction);
    case Op::set_function_attribute_: return set_function_attribute(arg);
    case Op::comprehension_: return inlined_comprehension(instruction);
    case Op::intrinsic_1_: return intrinsic(Intrinsic1(arg));
    case Op::get_yield_from_iter_:
    case Op::get_awaitable_:
    case Op::yield_from_:
    case Op::yield_value_:
    case Op::async_gen_wrap_: return yields(instruction);

    case Op::store_fast_:
    case Op::store_name_:
    case Op::store_global_:
    case Op::store_deref_: return store_name(target_name(instruction));
    case Op::store_attr_: {
      Expr* object = pop_entry().expr;
      return store(make(Attribute{object, name_of(arg)}), pop_entry());
    }
    case Op::store_subscr_:
    case Op::store_slice_: {
      Expr* target = make(subscript(instruction.op == Op::store_slice_, true));
      return store(target, pop_entry());
    }
    case Op::unpack_sequence_: return unpack(arg, 0, false);
    case Op::unpack_ex_: return unpack(arg, instruction.aux, true);
    case Op::delete_fast_:
    case Op::delete_name_:
    case Op::delete_global_:
    case Op::delete_deref_: return emit(Delete{context_.list({target_name(instruction)})});
    case Op::delete_attr_: return emit(Delete{context_.list({make(Attribute{pop(), name_of(arg)})})});
    case Op::delete_subscr_: return emit(Delete{context_.list({make(subscript(false, false))})});
    case Op::print_expr_: return emit(ExprStmt{pop()});
    case Op::annotated_: return emit(InternalStmt{StmtMarker::annotated, arg, nullptr, nullptr});

    case Op::jump_:
    case Op::make_cell_:
    case Op::copy_free_vars_:
    case Op::setup_annotations_:
    case Op::protected_: return;
    case Op::pop_jump_if_true_:
    case Op::pop_jump_if_false_:
    case Op::pop_jump_if_none_:
    case Op::pop_jump_if_not_none_:
    case Op::jump_if_true_or_pop_:
    case Op::jump_if_false_or_pop_: return branch(instruction);
    case Op::match_case_: return match_case(instruction);
    case Op::for_iter_: return loop(instruction);
    case Op::return_value_: return leave(instruction);
    case Op::raise_: return raise(arg);
    case Op::unreachable_: return stop();

    case Op::reraise_: return reraise(instruction);
    case Op::behind_handlers_:
    case Op::push_exc_info_:
    case Op::pop_except_:
    case Op::check_exc_match_:
    case Op::check_eg_match_: return handler(instruction);
    case Op::with_except_start_: return call_exit(instruction);
    case Op::with_exit_: return finish_call(pop(), {context_.none(), context_.none(), context_.none()}, {});
    case Op::before_with_:
    case Op::before_async_with_: return enter_with(instruction);

    case Op::match_mapping_:
    case Op::match_sequence_:
    case Op::match_class_:
    case Op::match_keys_:
    case Op::copy_dict_without_keys_: return matching(instruction);

    case Op::import_star_:
    case Op::import_from_: fail("import out of place");
    // Passes of flow/ take these out of code that a compiler made, and `generics` those that make type parameters.
    case Op::nop_:
    case Op::load_fast_and_clear_:
    case Op::intrinsic_2_:
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
    case Op::resume_:
    case Op::unknown_: fail("no Python for " + std::string(op_name(instruction.op)));
  }
}

// Any of the constants that are functions and types, by their names.
void Lifter::load_common_constant(CommonName constant) {
  static constexpr std::string_view names[] = {
      "AssertionError", "NotImplementedError", "tuple", "all", "any", "list", "set"};
  push(Name{names[static_cast<std::size_t>(constant)]});
}

// The cell itself: (lambda: x).__closure__[0]
void Lifter::load_closure(int index) {
  auto* args = context_.arena.make<Arguments>();
  Expr* lambda = make(Lambda{args, local(index)});
  Expr* closure = make(Attribute{lambda, "__closure__"});
  push(Subscript{closure, context_.constant(Constant::Kind::integer, "0")});
}

void Lifter::to_bool() {
  const int next = skip(at_ + 1);
  const bool is_tested = next < end_ && (tests_truth(code_[next].op) || code_[next].op == Op::unary_op_);
  // `not not x`, where nothing tests the result
  if (!is_tested) push(UnaryExpr{UnaryOp::not_, make(UnaryExpr{UnaryOp::not_, pop()})});
}

// The subscript whose parts are on the stack, the container at the bottom. Of a target, nothing was used before.
Expr::Node Lifter::subscript(bool is_slice, bool is_target) {
  auto next = [&] { return is_target ? pop_entry().expr : pop(); };
  if (is_slice) {
    Expr* stop = next();
    Expr* start = next();
    Expr* container = next();
    return Subscript{container, make(Slice{unless_none(start), unless_none(stop), nullptr})};
  }
  Expr* key = next();
  return Subscript{next(), key};
}

void Lifter::build_slice(int parts) {
  std::vector<Expr*> items = pop_many(parts);
  // Where it does not stand in a subscript, `settle` makes it a call of slice().
  push(Slice{unless_none(items[0]), unless_none(items[1]), parts == 3 ? items[2] : nullptr});
}

// len() of the subject of a pattern, which stays.
void Lifter::length() {
  Expr* subject = peek(1).expr;
  if (!stable(subject)) spill_all(stack_.size());
  push(Call{context_.name("len"), context_.list({peek(1).expr}), {}});
}

// The other functions are operations of their own, or `generics` has them.
void Lifter::intrinsic(Intrinsic1 function) {
  if (function != Intrinsic1::print) fail("no Python for " + std::string(op_name(Op::intrinsic_1_)));
  emit(ExprStmt{pop()});
  push(context_.none());
}

void Lifter::raise(int operands) {
  Expr *cause = operands >= 2 ? pop() : nullptr, *exc = operands >= 1 ? pop() : nullptr;
  emit(Raise{exc, cause});
  stop();
}

void Lifter::load_const(int index) {
  if (index < 0 || index >= decoded_.constant_count()) fail("no such constant");
  const Constant& constant = decoded_.constant(index);
  if (constant.kind == Constant::Kind::code) return push(Internal{Marker::code, index, nullptr});
  // An object without a literal is shown under a name.
  auto opaque = [](const Constant& value, auto& self) -> bool {
    return value.kind == Constant::Kind::opaque || value.kind == Constant::Kind::code ||
           std::any_of(value.items.begin(), value.items.end(), [&](const Constant& item) { return self(item, self); });
  };
  if (!opaque(constant, opaque)) return push(ConstantExpr{&constant});
  push(named_constant(index));
}

Expr* Lifter::named_constant(int index) {
  std::vector<std::uint32_t> path = context_.path;
  path.push_back(std::uint32_t(index));
  std::string name;
  for (const NamedConstant& named : context_.named_constants)
    if (named.path == path) name = named.name;
  if (name.empty()) {
    name = "__const_" + std::to_string(context_.named_constants.size());
    context_.named_constants.push_back({name, path});
  }
  std::string_view id = context_.arena.copy(name);
  made_.insert(id.data());
  return make(Name{id});
}

void Lifter::stop() {
  nodes_[node_].end = Node::End::stop, nodes_[node_].a = nodes_[node_].b = -1;
  ended_ = true;
}

// x.a; where the name is none that Python accepts (Dynamo loads the attribute `0` of a module): getattr(x, "0").
Expr* Lifter::attribute(Expr* object, std::string_view name) {
  if (is_name(name)) return make(Attribute{object, name});
  Expr* text = context_.constant(Constant::Kind::string, std::string(name));
  return make(Call{context_.name("getattr"), context_.list({object, text}), {}});
}

}  // namespace depyf
