// What each operation does to the stack. What takes more than a few lines has a file named for what it makes.
#include <algorithm>

#include "lift/lifter.h"

namespace depyf {
using namespace ast;

namespace {
// A part of a slice; None stands for one that is left out.
Expr* unless_none(Expr* expr) { return is_none(expr) ? nullptr : expr; }
}  // namespace

bool Lifter::operation(const Instruction& instruction) {
  const int arg = instruction.arg;
  switch (instruction.op) {
    case Op::pop_top_: pop_top(); return true;
    case Op::copy_: copy(arg); return true;
    case Op::swap_: swap(arg); return true;
    case Op::rotate_: rotate(arg); return true;
    case Op::push_null_: push(Internal{Marker::null, 0, nullptr}); return true;
    case Op::load_const_: load_const(arg); return true;
    case Op::load_int_:
      push(make(as<ConstantExpr>(context_.constant(Constant::Kind::integer, std::to_string(arg)))[0]));
      return true;
    case Op::load_fast_: push(local(arg)); return true;
    case Op::load_name_:
    case Op::load_global_: push(Name{name_of(arg)}); return true;
    case Op::load_deref_:
    case Op::load_class_deref_: push(local(arg)); return true;
    case Op::load_from_dict_or_deref_:
      pop();
      push(local(arg));
      return true;
    case Op::load_from_dict_or_globals_:
      pop();
      push(Name{name_of(arg)});
      return true;
    case Op::load_locals_: push(Internal{Marker::locals, 0, nullptr}); return true;
    case Op::load_closure_: {
      // The cell itself: (lambda: x).__closure__[0]
      auto* args = context_.arena.make<Arguments>();
      Expr* lambda = make(Lambda{args, local(arg)});
      Expr* closure = make(Attribute{lambda, "__closure__"});
      push(Subscript{closure, context_.constant(Constant::Kind::integer, "0")});
      return true;
    }
    case Op::load_common_constant_: {
      static constexpr std::string_view names[] = {
          "AssertionError", "NotImplementedError", "tuple", "all", "any", "list", "set"};
      push(Name{names[arg]});
      return true;
    }
    case Op::annotated_: emit(InternalStmt{StmtMarker::annotated, arg, nullptr, nullptr}); return true;
    case Op::load_assertion_error_: push(Name{"AssertionError"}); return true;
    case Op::make_cell_:
    case Op::copy_free_vars_:
    case Op::setup_annotations_:
    case Op::protected_: return true;
    case Op::to_bool_: {
      int next = skip(at_ + 1);
      const bool tested =
          next < end_ && (is_conditional_jump(code_[next].op) || code_[next].op == Op::unary_op_ ||
                          code_[next].op == Op::jump_if_true_or_pop_ || code_[next].op == Op::jump_if_false_or_pop_);
      // `not not x`, where nothing tests the result
      if (!tested) push(UnaryExpr{UnaryOp::not_, make(UnaryExpr{UnaryOp::not_, pop()})});
      return true;
    }
    case Op::load_attr_: push(attribute(pop(), name_of(arg))); return true;
    case Op::load_method_: {
      push(attribute(pop(), name_of(arg)));
      push(Internal{Marker::null, 1, nullptr});
      return true;
    }
    case Op::binary_op_: binary(BinaryOp(arg), instruction.aux != 0); return true;
    case Op::binary_subscr_: {
      Expr* key = pop();
      push(Subscript{pop(), key});
      return true;
    }
    case Op::binary_slice_: {
      Expr* stop = pop();
      Expr* start = pop();
      Expr* container = pop();
      push(Subscript{container, make(Slice{unless_none(start), unless_none(stop), nullptr})});
      return true;
    }
    case Op::unary_op_: push(UnaryExpr{UnaryOp(arg), pop()}); return true;
    case Op::compare_op_: compare(CompareOp(arg)); return true;
    case Op::is_op_: compare(arg ? CompareOp::is_not : CompareOp::is); return true;
    case Op::contains_op_: compare(arg ? CompareOp::not_in : CompareOp::in); return true;
    case Op::build_tuple_:
    case Op::build_list_:
    case Op::build_set_:
    case Op::build_map_:
    case Op::build_const_key_map_:
    case Op::list_to_tuple_:
    case Op::build_unpack_: display(instruction); return true;
    case Op::build_string_: join_string(arg); return true;
    case Op::build_slice_: {
      std::vector<Expr*> items = pop_many(arg);
      // Where it does not stand in a subscript, `settle` makes it a call of slice().
      push(Slice{unless_none(items[0]), unless_none(items[1]), arg == 3 ? items[2] : nullptr});
      return true;
    }
    case Op::list_append_:
    case Op::set_add_:
    case Op::map_add_:
    case Op::list_extend_:
    case Op::set_update_:
    case Op::dict_update_:
    case Op::dict_merge_: extend(instruction); return true;
    case Op::format_value_: format(instruction); return true;
    case Op::get_iter_:
    case Op::get_aiter_: push(Internal{Marker::iterator, at_, pop()}); return true;
    case Op::get_yield_from_iter_:
    case Op::get_awaitable_:
    case Op::yield_from_:
    case Op::yield_value_:
    case Op::async_gen_wrap_: yields(instruction); return true;
    case Op::delete_fast_:
    case Op::delete_name_:
    case Op::delete_global_:
    case Op::delete_deref_: emit(Delete{context_.list({target_name(instruction)})}); return true;
    case Op::delete_attr_: emit(Delete{context_.list({make(Attribute{pop(), name_of(arg)})})}); return true;
    case Op::delete_subscr_: {
      Expr* key = pop();
      emit(Delete{context_.list({make(Subscript{pop(), key})})});
      return true;
    }
    case Op::store_fast_:
    case Op::store_name_:
    case Op::store_global_:
    case Op::store_deref_: store_name(target_name(instruction)); return true;
    case Op::store_attr_: {
      Expr* object = pop_entry().expr;
      Expr* target = make(Attribute{object, name_of(arg)});
      store(target, pop_entry());
      return true;
    }
    case Op::store_subscr_: {
      Expr* key = pop_entry().expr;
      Expr* object = pop_entry().expr;
      store(make(Subscript{object, key}), pop_entry());
      return true;
    }
    case Op::unpack_sequence_: unpack(arg, 0, false); return true;
    case Op::unpack_ex_: unpack(arg, instruction.aux, true); return true;
    case Op::raise_: {
      Expr *cause = arg >= 2 ? pop() : nullptr, *exc = arg >= 1 ? pop() : nullptr;
      emit(Raise{exc, cause});
      stop();
      return true;
    }
    case Op::reraise_:
    case Op::behind_handlers_:
    case Op::push_exc_info_:
    case Op::pop_except_:
    case Op::check_exc_match_:
    case Op::check_eg_match_: handler(instruction); return true;
    case Op::unreachable_: stop(); return true;
    case Op::with_except_start_:
    case Op::with_exit_:
    case Op::before_with_:
    case Op::before_async_with_: context_manager(instruction); return true;
    case Op::get_len_: {
      Expr* subject = peek(1).expr;
      if (!stable(subject)) spill_all(stack_.size());
      push(Call{context_.name("len"), context_.list({peek(1).expr}), {}});
      return true;
    }
    case Op::print_expr_: emit(ExprStmt{pop()}); return true;
    case Op::import_name_: import_name(); return true;
    case Op::import_star_:
    case Op::import_from_: fail("import out of place");
    case Op::store_slice_: {
      Expr* stop = pop_entry().expr;
      Expr* start = pop_entry().expr;
      Expr* container = pop_entry().expr;
      store(make(Subscript{container, make(Slice{unless_none(start), unless_none(stop), nullptr})}), pop_entry());
      return true;
    }
    case Op::intrinsic_1_:
      if (Intrinsic1(arg) != Intrinsic1::print) return false;  // the others are operations of their own by now
      emit(ExprStmt{pop()});
      push(context_.none());
      return true;
    default: return false;
  }
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
