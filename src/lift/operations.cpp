// Loads, operators, displays, and what else makes one expression of others.
#include <algorithm>

#include "lift/lifter.h"

namespace depyf {
using namespace ast;

namespace {
// A part of a slice; None stands for one that is left out.
Expr* unless_none(Expr* expr) {
  auto* constant = as<ConstantExpr>(expr);
  return constant && constant->value->kind == Constant::Kind::none ? nullptr : expr;
}

// From 3.11 on the compiler makes an f-string of '%s and %r' % (a, b). Where it did not, the text was an f-string itself.
bool would_be_fstring(const Expr* left, const Expr* right) {
  auto* text = as<ConstantExpr>(left);
  auto* items = as<Tuple>(right);
  if (!text || text->value->kind != Constant::Kind::string || !items) return false;
  const std::string& format = text->value->text;
  std::size_t count = 0;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') continue;
    const char kind = ++at < format.size() ? format[at] : 0;
    if (kind != '%' && kind != 's' && kind != 'r' && kind != 'a') return false;
    count += kind != '%';
  }
  return count == items->elts.size() &&
         std::none_of(items->elts.begin(), items->elts.end(), [](const Expr* item) { return is<Starred>(item); });
}
}  // namespace

bool Lifter::operation(const Instruction& instruction) {
  const int arg = instruction.arg;
  switch (instruction.op) {
    case Op::pop_top_: {
      if (!stack_.empty()) {
        Expr* top = stack_.back().expr;
        auto* internal = as<Internal>(top);
        if (internal && (internal->marker == Marker::unpacked || internal->marker == Marker::copied ||
                         internal->marker == Marker::item)) {
          if (internal->marker == Marker::copied) {
            stack_.pop_back();
            return true;
          }
          if (internal->marker == Marker::item) {
            store(fresh(), pop_entry());
            return true;
          }
          // `_, _, a = v`: what is stored again at once is dropped.
          int next = skip(at_ + 1);
          while (next < end_ && code_[next].op == Op::pop_top_) next = skip(next + 1);
          const bool again = next < end_ && code_[next].op == Op::store_fast_ && !flat_;
          store(again ? target_name(code_[next]) : fresh(), pop_entry());
          return true;
        }
        if (internal && internal->marker == Marker::exception) {
          emit(InternalStmt{StmtMarker::bind_exception, 0, nullptr, nullptr});
          stack_.pop_back();
          return true;
        }
        if (internal && (internal->marker == Marker::enter_result || internal->marker == Marker::null ||
                         internal->marker == Marker::with_exit || internal->marker == Marker::previous_exception)) {
          stack_.pop_back();
          return true;
        }
        if (internal && internal->marker == Marker::iterator &&
            !internal->value) {  // a loop is left by return or break
          stack_.pop_back();
          return true;
        }
      }
      Expr* value = pop();
      if (stable(value) && is<Name>(value)) {
        // A load may raise where the local is unbound; temporaries never are.
        std::string_view id = as<Name>(value)->id;
        if (id.starts_with("__temp_") || id.starts_with("__stack_") || id.starts_with("__const_")) return true;
      }
      // A constant is no statement of the compiler's; dropped on another line it is the subject of `case _`.
      if (is<ConstantExpr>(value) && !flat_ && value->line != instruction.line &&
          decoded_.code->version >= Version{3, 10}) {
        MatchCase any{context_.arena.make<Pattern>(Pattern{MatchAs{nullptr, {}}}), nullptr,
                      context_.list({context_.stmt(Pass{})})};
        emit(Match{value, context_.list({any})});
        return true;
      }
      // A plain string would be a docstring, or dropped.
      if (auto* text = as<ConstantExpr>(value); text && text->value->kind == Constant::Kind::string && !flat_)
        value = make(JoinedStr{context_.list({value})});
      emit(ExprStmt{value});
      return true;
    }
    case Op::copy_: copy(arg); return true;
    case Op::swap_: swap(arg); return true;
    case Op::rotate_: rotate(arg); return true;
    case Op::push_null_: push(Internal{Marker::null, 0, nullptr}); return true;
    case Op::load_const_: load_const(arg); return true;
    case Op::load_int_: {
      Constant value;
      value.kind = Constant::Kind::integer, value.text = std::to_string(arg);
      push(context_.constant(std::move(value)));
      return true;
    }
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
      Constant zero;
      zero.kind = Constant::Kind::integer, zero.text = "0";
      push(Subscript{closure, context_.constant(std::move(zero))});
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
    case Op::build_string_:
    case Op::build_slice_: container(instruction); return true;
    case Op::build_unpack_: build_unpack(instruction); return true;
    case Op::list_append_:
    case Op::set_add_:
    case Op::map_add_:
    case Op::list_extend_:
    case Op::set_update_:
    case Op::dict_update_:
    case Op::dict_merge_: extend(instruction); return true;
    case Op::list_to_tuple_: {
      Expr* list = pop();
      if (auto* display = as<ListExpr>(list)) push(Tuple{display->elts});
      else push(Tuple{context_.list({make(Starred{list})})});
      return true;
    }
    case Op::format_value_: format(instruction); return true;
    case Op::get_iter_:
    case Op::get_aiter_: push(Internal{Marker::iterator, at_, pop()}); return true;
    case Op::get_yield_from_iter_: push(Internal{Marker::awaitable, 1, pop()}); return true;
    case Op::get_awaitable_: push(Internal{Marker::awaitable, 0, pop()}); return true;
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
    case Op::reraise_: {
      Expr* exc = stack_.empty() ? nullptr : pop_entry().expr;
      auto* internal = as<Internal>(exc);
      if (flat_) emit(Raise{exc, nullptr});
      else if (internal && internal->marker == Marker::exception)
        emit(InternalStmt{StmtMarker::reraise, 0, nullptr, nullptr});
      else emit(Raise{exc, nullptr});
      stop();
      if (instruction.target >= 0 && !flat_) {  // 3.8
        pop_entry();  // what was handled before
        nodes_[node_].a = cfg_.blocks[current_block_].jump;
        nodes_[node_].end_offset = static_cast<std::uint32_t>(instruction.aux);
      }
      return true;
    }
    case Op::behind_handlers_:
      nodes_[node_].behind_handlers = true;
      nodes_[node_].else_break = (instruction.arg & 1) != 0;
      nodes_[node_].else_clause = (instruction.arg & 2) != 0;
      return true;
    case Op::unreachable_: stop(); return true;
    case Op::push_exc_info_: {
      Entry exception = pop_entry();
      push(Internal{Marker::previous_exception, 0, nullptr});
      stack_.push_back(exception);
      return true;
    }
    case Op::pop_except_: {
      pop_entry();
      if (flat_) return true;
      emit(InternalStmt{StmtMarker::pop_except, 0, nullptr, nullptr});
      // LOAD_CONST None; STORE e; DELETE e: the end of `except ... as e`
      int load = skip(at_ + 1), store = skip(load + 1), remove = skip(store + 1);
      if (remove < end_ && code_[load].op == Op::load_const_ && code_[store].arg == code_[remove].arg) {
        bool pair = is_store_name(code_[store].op) && code_[remove].op == delete_of(code_[store].op);
        if (pair && bound_names_.contains(as<Name>(target_name(code_[store]))->id)) at_ = remove;
      }
      return true;
    }
    case Op::check_exc_match_: {
      Expr* type = pop();
      Expr* exception = stack_.empty() ? nullptr : stack_.back().expr;
      if (flat_) push(Call{context_.name("isinstance"), context_.list({exception, type}), {}});
      else push(Internal{Marker::exc_match, 0, type});
      return true;
    }
    case Op::check_eg_match_: {
      if (flat_) return exception_group(instruction);
      push(Internal{Marker::eg_match, 0, pop()});
      return true;
    }
    case Op::with_except_start_: {
      if (!flat_) fail("with handler outside a with statement");
      Expr* exception = peek(1).expr;
      Expr* exit = peek(4 + instruction.aux).expr;
      Expr* type = make(Call{context_.name("type"), context_.list({exception}), {}});
      push(Call{exit, context_.list({type, exception, make(Attribute{exception, "__traceback__"})}), {}});
      return true;
    }
    case Op::with_exit_: {
      Expr* exit = pop();
      finish_call(exit, {context_.none(), context_.none(), context_.none()}, {});
      return true;
    }
    case Op::before_with_:
    case Op::before_async_with_: {
      bool async = instruction.op == Op::before_async_with_;
      int region = -1;
      if (!flat_) {
        if (auto found = with_at_.find(at_ + 1); found != with_at_.end()) region = found->second;
        if (int next = cfg_.blocks[current_block_].next;
            next >= 0 && cfg_.blocks[next].setup_of > region &&
            cfg_.regions[cfg_.blocks[next].setup_of].kind == Region::Kind::with)
          region = cfg_.blocks[next].setup_of;
      }
      if (region < 0) {
        // Entered by hand: type(manager).__enter__(manager)
        Entry manager{pop(), node_, -1};
        if (!stable(manager.expr)) stack_.push_back(manager), spill_all(stack_.size()), manager = pop_entry();
        auto special = [&](std::string_view name) {
          return make(Attribute{make(Call{context_.name("type"), context_.list({manager.expr}), {}}), name});
        };
        push(Call{
            make(Attribute{special(async ? "__aexit__" : "__exit__"), "__get__"}), context_.list({manager.expr}), {}});
        if (instruction.aux) push(Internal{Marker::null, 1, nullptr});
        push(Call{special(async ? "__aenter__" : "__enter__"), context_.list({manager.expr}), {}});
        return true;
      }
      Expr* manager = pop();
      push(Internal{Marker::with_exit, at_, nullptr});
      if (instruction.aux) push(Internal{Marker::null, 1, nullptr});
      push(Internal{Marker::enter_result, region, manager});
      return true;
    }
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
  Constant text;
  text.kind = Constant::Kind::string, text.text = name;
  return make(Call{context_.name("getattr"), context_.list({object, context_.constant(std::move(text))}), {}});
}

void Lifter::copy(int n) {
  Entry& source = peek(n);
  auto* internal = as<Internal>(source.expr);
  bool marker = internal && internal->marker != Marker::copied && internal->marker != Marker::unpacked &&
                internal->marker != Marker::iterator && internal->marker != Marker::awaitable &&
                internal->marker != Marker::item && internal->marker != Marker::chain &&
                internal->marker != Marker::enter_result;
  if (marker) return stack_.push_back({source.expr, node_, -1});
  if (internal && internal->marker == Marker::item && flat_) fail("copy of an item");
  if (internal && (internal->marker == Marker::unpacked || internal->marker == Marker::item)) {
    // A value that several stores take, as in `for a.b = c in ...`; it needs a name.
    if (internal->marker == Marker::unpacked) flush_unpackings();
    else {
      Expr* name = fresh();
      Entry item = source;
      nodes_[internal->index].target = name;
      *item.expr = Expr{name->node, item.expr->offset, item.expr->line};
    }
    return push(make(stack_[stack_.size() - n].expr->node));
  }
  int next = skip(at_ + 1);
  bool trivial = is<ConstantExpr>(source.expr) || (is<Name>(source.expr) && stable(source.expr));
  if (trivial && next < end_ && (code_[next].op == Op::load_attr_ || code_[next].op == Op::load_method_))
    return push(make(source.expr->node));
  bool to_store =
      n == 1 && next < end_ &&
      (is_store_name(code_[next].op) || code_[next].op == Op::unpack_sequence_ || code_[next].op == Op::unpack_ex_);
  if (literal_here()) {
    if (!trivial) spill_all(stack_.size() - n + 1);
    return push(make(stack_[stack_.size() - n].expr->node));
  }
  // The middle of a chained comparison: `compare` looks for the copy.
  int after = skip(next + 1);
  bool chained =
      n == 2 && next < end_ && after < end_ &&
      (code_[next].op == Op::compare_op_ || code_[next].op == Op::is_op_ || code_[next].op == Op::contains_op_) &&
      (code_[after].op == Op::jump_if_false_or_pop_ || code_[after].op == Op::pop_jump_if_false_);
  if (trivial && !to_store && !chained && n != 1) return push(make(source.expr->node));
  push(Internal{Marker::copied, at_, source.expr});
}

void Lifter::swap(int n) {
  if (n < 2) return;
  peek(n);
  std::size_t low = stack_.size() - n;
  // SWAP n and n stores: a tuple assignment without its tuple
  int unstable = 0;
  bool markers = false;
  for (std::size_t index = low; index < stack_.size(); ++index) {
    unstable += !stable(stack_[index].expr);
    auto* internal = as<Internal>(stack_[index].expr);
    markers |= internal && internal->marker != Marker::function;
  }
  if (literal_here()) {
    spill_all(stack_.size());
    std::swap(stack_[low], stack_.back());
    return;
  }
  int next = skip(at_ + 1);
  if (!markers && next < end_ && (n == 2 || n == 3) && swap_starts_stores(n)) {
    SwapGroup group;
    for (std::size_t index = low; index < stack_.size(); ++index) {
      group.values.push_back(stack_[index].expr);
      swap_of_[stack_[index].expr] = int(swaps_.size());
    }
    swaps_.push_back(group);
    std::swap(stack_[low], stack_.back());
    stack_[low].mover = stack_.back().mover = at_;
    return;
  }
  const bool defaults = before_generic(next) || is_generic(stack_.back().expr);  // of a function with type parameters
  std::swap(stack_[low], stack_.back());
  if (unstable > 1 && !defaults)
    for (std::size_t index = low; index < stack_.size(); ++index) stack_[index].mover = at_;
}

// Do the instructions that follow store the top n values, one after the other, or what these hold?
bool Lifter::swap_starts_stores(int n) const {
  int open = n, depth = 0;  // values that wait for a target; what targets push
  for (int at = at_ + 1; at < end_; ++at) {
    const Instruction& instruction = code_[at];
    if (instruction.op == Op::nop_) continue;
    switch (instruction.op) {
      case Op::store_fast_:
      case Op::store_name_:
      case Op::store_global_:
      case Op::store_deref_:
        if (depth != 0) return false;
        --open;
        break;
      case Op::store_attr_:
        if (depth != 1) return false;
        depth = 0, --open;
        break;
      case Op::store_subscr_:
        if (depth != 2) return false;
        depth = 0, --open;
        break;
      case Op::store_slice_:
        if (depth != 3) return false;
        depth = 0, --open;
        break;
      case Op::pop_top_:
      case Op::copy_:
      case Op::swap_:
      case Op::rotate_: return false;
      case Op::unpack_sequence_:
      case Op::unpack_ex_:
        if (depth != 0 || instruction.arg < 0 || instruction.arg > 1000) return false;
        open += instruction.arg - 1;
        if (instruction.op == Op::unpack_ex_) open += instruction.aux + 1;
        break;
      default: {
        if (instruction.target >= 0) return false;
        StackEffect effect = stack_effect(instruction, decoded_.code->version, false);
        if (effect.pops > depth) return false;
        depth += effect.pushes - effect.pops;
      }
    }
    if (open == 0) return true;
  }
  return false;
}

void Lifter::rotate(int n) {
  if (n < 2) return;
  peek(n);
  std::size_t low = stack_.size() - n;
  int unstable = 0;
  for (std::size_t index = low; index < stack_.size(); ++index) unstable += !stable(stack_[index].expr);
  if (literal_here()) spill_all(stack_.size());
  std::rotate(stack_.begin() + low, stack_.end() - 1, stack_.end());
  if (unstable > 1 && !literal_here())
    for (std::size_t index = low; index < stack_.size(); ++index) stack_[index].mover = at_;
}

// a; b; SWAP 2; COPY 2; COMPARE_OP; JUMP_IF_FALSE cleanup; c; COMPARE_OP: the middle is copied, cleaned up where it fails.
// `copied`: the right side is a copy of what lies below: the chain goes on.
void Lifter::compare(CompareOp op) {
  auto longer = [&](const Compare& chain, Expr* comparator) {
    return Compare{chain.left, context_.arena.append(chain.ops, op),
                   context_.arena.append(chain.comparators, comparator)};
  };
  Entry right = pop_entry();
  auto* copied = as<Internal>(right.expr);
  int test = skip(at_ + 1);
  bool goes_on = copied && copied->marker == Marker::copied && test < end_ && !literal_here() &&
                 (code_[test].op == Op::jump_if_false_or_pop_ || code_[test].op == Op::pop_jump_if_false_) &&
                 stack_.size() >= 2 && stack_[stack_.size() - 2].expr == copied->value;
  if (!goes_on) {
    stack_.push_back(right);
    Expr* value = pop();
    Entry left = pop_entry();
    auto* chain = as<Internal>(left.expr);
    if (chain && chain->marker == Marker::chain) return push(longer(*as<Compare>(chain->value), value));
    if (left.mover >= 0 && !stable(left.expr)) throw Restart{left.mover};
    return push(Compare{left.expr, context_.list({op}), context_.list({value})});
  }
  // ..., b, a, copy of b
  Entry left = pop_entry(), middle = pop_entry();
  Expr* so_far;
  auto* chain = as<Internal>(left.expr);
  if (chain && chain->marker == Marker::chain) so_far = make(longer(*as<Compare>(chain->value), middle.expr));
  else so_far = make(Compare{left.expr, context_.list({op}), context_.list({middle.expr})});
  // The jump is dropped: where it leads, only the middle is thrown away.
  int cleanup = code_[test].target, next = cleanup;
  auto at = [&](int index) {
    while (index < int(code_.size()) && code_[index].op == Op::nop_) ++index;
    return index;
  };
  next = at(next);
  bool value_kept = code_[test].op == Op::jump_if_false_or_pop_;
  if (value_kept) {
    if (code_[next].op != Op::swap_ && code_[next].op != Op::rotate_) throw Restart{copied->index};
    next = at(next + 1);
  }
  if (code_[next].op != Op::pop_top_) throw Restart{copied->index};
  const int failed = cfg_.blocks[current_block_].jump;
  chains_.insert(failed);
  chain_fails_ = failed >= 0 ? cfg_.blocks[failed].next : -1;
  push(Internal{Marker::chain, copied->index, so_far});
  stack_.back().mover = -1;
  Node& node = nodes_[node_];
  node.end = Node::End::go, node.a = cfg_.blocks[current_block_].next;
  ended_ = true;
  at_ = test;
}

// POP_JUMP_IF_NONE and POP_JUMP_IF_NOT_NONE: compares the top with None; does the jump lead to where that holds? At the end of
// a chain `is` is told from `is not` by where the chain goes when an earlier part fails.
bool Lifter::test_for_none(bool jumps_on_none) {
  CompareOp op = CompareOp::is;
  auto* chain = as<Internal>(peek(1).expr);
  if (chain && chain->marker == Marker::chain) {
    const BasicBlock& block = cfg_.blocks[current_block_];
    const bool jumps_on_true = chain_fails_ >= 0 && chain_fails_ == block.next;
    if (jumps_on_none != jumps_on_true) op = CompareOp::is_not;
    jumps_on_none = jumps_on_true;
  }
  push(context_.none());
  compare(op);
  return jumps_on_none;
}

void Lifter::container(const Instruction& instruction) {
  const int arg = instruction.arg;
  switch (instruction.op) {
    case Op::build_tuple_: push(Tuple{context_.arena.copy(pop_many(arg))}); return;
    case Op::build_list_: push(ListExpr{context_.arena.copy(pop_many(arg))}); return;
    case Op::build_set_: push(SetExpr{context_.arena.copy(pop_many(arg))}); return;
    case Op::build_map_: {
      std::vector<Expr*> items = pop_many(2 * arg), keys, values;
      for (int index = 0; index < arg; ++index)
        keys.push_back(items[2 * index]), values.push_back(items[2 * index + 1]);
      push(Dict{context_.arena.copy(keys), context_.arena.copy(values)});
      return;
    }
    case Op::build_const_key_map_: {
      auto* names = as<ConstantExpr>(pop());
      if (!names || int(names->value->items.size()) != arg) fail("keys of a dict are no tuple");
      std::vector<Expr*> values = pop_many(arg), keys;
      for (const Constant& key : names->value->items) keys.push_back(make(ConstantExpr{&key}));
      push(Dict{context_.arena.copy(keys), context_.arena.copy(values)});
      return;
    }
    case Op::build_string_: {
      std::vector<Expr*> values;
      for (Expr* part : pop_many(arg)) {
        if (auto* joined = as<JoinedStr>(part))
          values.insert(values.end(), joined->values.begin(), joined->values.end());
        else if (auto* constant = as<ConstantExpr>(part); constant && constant->value->kind == Constant::Kind::string)
          values.push_back(part);
        else values.push_back(make(FormattedValue{part, 0, nullptr}));  // a string already: formatting keeps it
      }
      push(JoinedStr{context_.arena.copy(values)});
      return;
    }
    case Op::build_slice_: {
      std::vector<Expr*> items = pop_many(arg);
      // Where it does not stand in a subscript, `settle` makes it a call of slice().
      push(Slice{unless_none(items[0]), unless_none(items[1]), arg == 3 ? items[2] : nullptr});
      return;
    }
    default: fail("no display");
  }
}

// 3.8: a display with `*` or `**` is built of its parts; plain items that stand together are a display of their own.
void Lifter::build_unpack(const Instruction& instruction) {
  enum { tuple, list, set, map, call_tuple, call_map };
  const std::vector<Expr*> parts = pop_many(instruction.arg);
  std::vector<Expr*> keys, items;
  bool plain = false;  // was the last part plain items? Then they did not stand together with the next
  auto add = [&](Expr* key, Expr* item) { keys.push_back(key), items.push_back(item); };
  auto add_all = [&](std::span<Expr* const> own_keys, std::span<Expr* const> own) {
    plain =
        !plain && !own.empty() && std::none_of(own.begin(), own.end(), [](Expr* item) { return is<Starred>(item); });
    if (plain && !own_keys.empty())
      plain = std::none_of(own_keys.begin(), own_keys.end(), [](Expr* key) { return key == nullptr; });
    for (std::size_t index = 0; plain && index < own.size(); ++index)
      add(own_keys.empty() ? nullptr : own_keys[index], own[index]);
  };
  const bool mapping = instruction.aux == map || instruction.aux == call_map;
  for (Expr* part : parts) {
    auto* constant = as<ConstantExpr>(part);
    if (auto* display = as<Dict>(part); display && mapping) {
      add_all(display->keys, display->values);
    } else if (auto* inner = as<Tuple>(part); inner && !mapping && instruction.aux != set) {
      add_all({}, inner->elts);
    } else if (auto* inner_set = as<SetExpr>(part); inner_set && instruction.aux == set) {
      add_all({}, inner_set->elts);
    } else if (constant && constant->value->kind == Constant::Kind::tuple && !mapping && instruction.aux != set) {
      std::vector<Expr*> own;
      for (const Constant& item : constant->value->items) own.push_back(make(ConstantExpr{&item}));
      add_all({}, own);
    } else {
      plain = false;
    }
    if (!plain) add(nullptr, mapping ? part : make(Starred{part}));
  }
  if (mapping) push(Dict{context_.arena.copy(keys), context_.arena.copy(items)});
  else if (instruction.aux == list) push(ListExpr{context_.arena.copy(items)});
  else if (instruction.aux == set) push(SetExpr{context_.arena.copy(items)});
  else push(Tuple{context_.arena.copy(items)});
}

void Lifter::extend(const Instruction& instruction) {
  const Op op = instruction.op;
  Expr *value = nullptr, *key = nullptr;
  if (op == Op::map_add_) {
    value = pop(), key = pop();
  } else {
    value = pop();
  }
  Entry& entry = peek(instruction.arg);
  Expr* target = entry.expr;
  auto* internal = as<Internal>(target);
  if (internal && internal->marker == Marker::result) {
    emit(InternalStmt{StmtMarker::append, 0, op == Op::map_add_ ? key : value, op == Op::map_add_ ? value : nullptr});
    return;
  }
  auto add = [&](std::span<Expr*> list, Expr* item) { return context_.arena.append(list, item); };
  bool here = find(entry.block) == node_ && instruction.arg == 1;
  if (here && !flat_) {
    if (auto* display = as<ListExpr>(target)) {
      if (op == Op::list_append_) {
        display->elts = add(display->elts, value);
        return;
      }
      if (op == Op::list_extend_) {
        if (auto* constant = as<ConstantExpr>(value);
            constant && constant->value->kind == Constant::Kind::tuple && display->elts.empty()) {
          for (const Constant& item : constant->value->items)
            display->elts = add(display->elts, make(ConstantExpr{&item}));
          return;
        }
        display->elts = add(display->elts, make(Starred{value}));
        return;
      }
    }
    if (auto* display = as<SetExpr>(target)) {
      if (op == Op::set_add_) {
        display->elts = add(display->elts, value);
        return;
      }
      if (op == Op::set_update_) {
        if (auto* constant = as<ConstantExpr>(value);
            constant && constant->value->kind == Constant::Kind::frozenset && display->elts.empty()) {
          for (const Constant& item : constant->value->items)
            display->elts = add(display->elts, make(ConstantExpr{&item}));
          return;
        }
        display->elts = add(display->elts, make(Starred{value}));
        return;
      }
    }
    if (auto* display = as<Dict>(target)) {
      if (op == Op::dict_update_ || op == Op::dict_merge_) {
        auto* inner = as<Dict>(value);
        // Items after a `**` make a display of their own.
        bool next_to = inner && op == Op::dict_update_ && !inner->keys.empty() && !display->keys.empty() &&
                       std::none_of(inner->keys.begin(), inner->keys.end(), [](Expr* each) { return each == nullptr; });
        if (next_to) {
          for (std::size_t index = 0; index < inner->keys.size(); ++index)
            display->keys = add(display->keys, inner->keys[index]),
            display->values = add(display->values, inner->values[index]);
          return;
        }
        display->keys = add(display->keys, nullptr), display->values = add(display->values, value);
        return;
      }
      if (op == Op::map_add_) {
        display->keys = add(display->keys, key), display->values = add(display->values, value);
        return;
      }
    }
  }
  // A method call does the same, on a value that has a name.
  if (!stable(target)) {
    push(value);
    if (key) push(key);
    spill_all(stack_.size());
    if (key) key = pop();
    value = pop();
    target = peek(instruction.arg).expr;
  }
  switch (op) {
    case Op::list_append_: call_method(target, "append", {value}); return;
    case Op::set_add_: call_method(target, "add", {value}); return;
    case Op::list_extend_: call_method(target, "extend", {value}); return;
    case Op::set_update_:
    case Op::dict_update_:
    case Op::dict_merge_: call_method(target, "update", {value}); return;
    default: emit(Assign{context_.list({make(Subscript{target, key})}), value}); return;
  }
}

void Lifter::call_method(Expr* object, std::string_view method, std::vector<Expr*> args) {
  emit(ExprStmt{make(Call{make(Attribute{make(object->node), method}), context_.arena.copy(args), {}})});
}

void Lifter::format(const Instruction& instruction) {
  Expr* spec = instruction.aux ? format_spec(pop()) : nullptr;
  Expr* value = pop();
  static constexpr char conversions[] = {0, 's', 'r', 'a'};
  char conversion = conversions[instruction.arg & 3];
  if (auto* converted = as<FormattedValue>(value); converted && !converted->format_spec && !conversion)
    conversion = converted->conversion, value = converted->value;
  Expr* formatted = make(FormattedValue{value, conversion, spec});
  push(JoinedStr{context_.list({formatted})});
}

void Lifter::binary(BinaryOp op, bool in_place) {
  Expr* right = pop();
  Expr* left = pop_entry().expr;
  if (!in_place) {
    stack_.push_back({left, node_, -1});
    left = pop();
    if (op == BinaryOp::remainder && context_.version >= Version{3, 11} && would_be_fstring(left, right))
      left = make(JoinedStr{context_.list({left})});
    return push(BinOp{left, op, right, false});
  }
  if (literal_here()) {
    // temporary op= right
    stack_.push_back({left, node_, -1});
    stack_.push_back({right, node_, -1});
    spill_all(stack_.size());
    right = pop(), left = pop();
    Expr* name = fresh();
    emit(Assign{context_.list({name}), left});
    emit(AugAssign{make(name->node), op, right});
    return push(make(name->node));
  }
  push(BinOp{left, op, right, true});
}

void Lifter::yields(const Instruction& instruction) {
  if (instruction.op == Op::async_gen_wrap_) return;
  if (instruction.op == Op::yield_value_) {
    Expr* value = pop();
    auto* constant = as<ConstantExpr>(value);
    push(Yield{constant && constant->value->kind == Constant::Kind::none ? nullptr : value});
    return;
  }
  pop();  // None, the first value sent
  Entry receiver = pop_entry();
  auto* internal = as<Internal>(receiver.expr);
  if (internal && internal->marker == Marker::awaitable) {
    Expr* value = internal->value;
    if (internal->index == 1) return push(YieldFrom{value});
    // `async with` awaits what its methods give; the statement does that itself.
    if (auto* entered = as<Internal>(value); entered && entered->marker == Marker::enter_result) return push(value);
    if (auto* exited = as<Internal>(value); exited && exited->marker == Marker::with_exit) return push(value);
    // So does a comprehension with `async for` or `await` in it.
    if (auto* made = as<ComprehensionExpr>(value); made && made->kind != ComprehensionKind::generator)
      return push(value);
    return push(Await{value});
  }
  push(YieldFrom{receiver.expr});
}

}  // namespace depyf
