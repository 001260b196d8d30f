// Stores: assignments of every kind, and the definitions that are stores of a function or class.
//
//   chain     v; COPY 1; STORE a; STORE b                  a = b = v
//   walrus    v; COPY 1; STORE a; <use>                    (a := v)
//   unpacking v; UNPACK_SEQUENCE 2; STORE a; STORE b       a, b = v
//   tuple     x; y; SWAP 2; STORE a; STORE b               a, b = x, y     also with the stores exchanged and no SWAP
//   augmented a; v; BINARY_OP +=; STORE a                  a += v
#include <algorithm>

#include "ast/equal.h"
#include "decode/op_info.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "flow/cfg.h"
#include "lift/lifter.h"
#include "support/search_limits.h"

namespace depyf {
using namespace ast;

namespace {
// Are both the same, where what is a copy on one side is its original on the other?
bool same_place(const Expr* one, const Expr* two) {
  if (auto* copied = as<Internal>(one); copied && copied->marker == Marker::copied) return copied->value == two;
  if (auto* a = as<Attribute>(one))
    if (auto* b = as<Attribute>(two)) return a->attr == b->attr && same_place(a->value, b->value);
  if (auto* a = as<Subscript>(one))
    if (auto* b = as<Subscript>(two)) return same_place(a->value, b->value) && same_place(a->slice, b->slice);
  if (auto* a = as<Slice>(one))
    if (auto* b = as<Slice>(two)) {
      auto both = [](const Expr* x, const Expr* y) { return x && y ? same_place(x, y) : x == y; };
      return both(a->lower, b->lower) && both(a->upper, b->upper) && both(a->step, b->step);
    }
  if (is<Name>(one) || is<ConstantExpr>(one)) return equal(one, two);
  return one == two;
}
}  // namespace

Expr* Lifter::target_name(const Instruction& instruction) {
  return uses_local(instruction.op) ? local(instruction.arg) : make(Name{name_of(instruction.arg)});
}

void Lifter::store_name(Expr* target) {
  if (store_run(target)) return;
  store(target, pop_entry());
}

// Two or more values wait and as many stores to locals follow: the compiler exchanged the stores instead of the values. It
// does so with locals alone: the order in which anything else is stored can be seen.
bool Lifter::store_run(Expr* target) {
  if (code_[at_].op != Op::store_fast_) return false;
  std::size_t values = 0;
  while (values < stack_.size()) {
    const Entry& entry = stack_[stack_.size() - 1 - values];
    if (is<Internal>(entry.expr) && as<Internal>(entry.expr)->marker != Marker::function) break;
    if (entry.mover >= 0 || swap_of_.contains(entry.expr) || find(entry.block) != node_) break;
    if (is<NamedExpr>(entry.expr)) break;
    ++values;
  }
  if (values < 2) return false;
  std::vector<Expr*> targets{target};
  int last = at_;
  for (int at = skip(at_ + 1); at < end_ && code_[at].op == Op::store_fast_ && targets.size() < values;
       at = skip(at + 1))
    targets.push_back(target_name(code_[at])), last = at;
  if (targets.size() < 2) return false;
  std::reverse(targets.begin(), targets.end());
  std::vector<Expr*> items;
  for (std::size_t index = stack_.size() - targets.size(); index < stack_.size(); ++index) {
    items.push_back(stack_[index].expr);
    if (as<BinOp>(items.back()) && as<BinOp>(items.back())->in_place) return false;
  }
  stack_.resize(stack_.size() - targets.size());
  at_ = last;
  emit(Assign{context_.list({make(Tuple{context_.arena.copy(targets)})}), make(Tuple{context_.arena.copy(items)})});
  return true;
}

void Lifter::store(Expr* target, Entry value) {
  Expr* expr = value.expr;
  if (auto group = swap_of_.find(expr); group != swap_of_.end()) {
    SwapGroup& swap = swaps_[group->second];
    swap_of_.erase(group);
    swap.targets.push_back(target);
    if (swap.targets.size() < swap.values.size()) return;
    emit(Assign{context_.list({make(Tuple{context_.arena.copy(swap.targets)})}),
                make(Tuple{context_.arena.copy(swap.values)})});
    return;
  }
  if (auto* internal = as<Internal>(expr)) {
    const Marker marker = internal->marker;
    if (marker == Marker::copied) {
      if (stack_.empty() || stack_.back().expr != internal->value) throw Restart{internal->index};
      stack_.back().expr = context_.expr(NamedExpr{target, internal->value}, expr->offset, expr->line);
      return;
    }
    if (marker == Marker::unpacked) return fill_unpacking(expr, target);
    if (marker == Marker::item && !flat_) {
      settle(target);
      nodes_[internal->index].target = target;
      return;
    }
    if (marker == Marker::enter_result && !flat_) {
      settle(target);
      Node& setup = nodes_[cfg_.regions[internal->index].setup];
      if (setup.target) fail("a context manager bound twice");
      setup.target = target;
      return;
    }
    if (marker == Marker::exception && !flat_) {
      if (!is<Name>(target)) fail("an exception bound to no name");
      bound_names_.insert(as<Name>(target)->id);
      emit(InternalStmt{StmtMarker::bind_exception, 0, target, nullptr});
      return;
    }
    // `def f[T]` binds these.
    if (marker == Marker::type_param || marker == Marker::generic_base) return;
  }
  if (store_annotate(target, expr) || define(target, expr)) return;
  if (value.mover >= 0 && !stable(expr)) {
    auto* binary = as<BinOp>(expr);
    if (!(binary && binary->in_place && same_place(binary->left, target))) throw Restart{value.mover};
  }
  assign(target, expr);
}

void Lifter::assign(Expr* target, Expr* value) {
  if (auto* binary = as<BinOp>(value); binary && binary->in_place) {
    if (!same_place(binary->left, target)) throw Restart{-1 - int(value->offset)};
    emit(AugAssign{target, binary->op, binary->right});
    return;
  }
  std::vector<Expr*> targets{target};
  while (auto* named = as<NamedExpr>(value)) {
    targets.insert(targets.begin(), named->target);
    value = named->value;
  }
  emit(Assign{context_.arena.copy(targets), value});
}

void Lifter::unpack(int before, int after, bool star) {
  Unpacking unpacking;
  unpacking.source = pop_entry();
  unpacking.at = at_;
  // `*args: *Ts` (3.11): the annotation of a name, which lies below it, is the one item of Ts.
  if (before == 1 && after == 0 && !star && !stack_.empty() && dialect_of(decoded_.code->version).starred_annotations &&
      constant_of(stack_.back().expr, Constant::Kind::string))
    return push(Starred{unpacking.source.expr});
  if (unpacking.source.mover >= 0 && !stable(unpacking.source.expr) && !swap_of_.contains(unpacking.source.expr))
    throw Restart{unpacking.source.mover};
  if (star) unpacking.star = before;
  int count = before + after + star;
  if (count < 0 || count > search_limits::targets) fail("too many targets");
  for (int index = 0; index < count; ++index) {
    unpacking.markers.push_back(make(Internal{Marker::unpacked, at_, nullptr}));
    unpacking.targets.push_back(nullptr);
  }
  for (int index = count - 1; index >= 0; --index) push(unpacking.markers[index]);
  unpackings_.push_back(std::move(unpacking));
  if (count == 0) close_unpacking(unpackings_.back());
}

// The target of one of the values of an unpacking.
void Lifter::fill_unpacking(const Expr* value, Expr* target) {
  for (Unpacking& unpacking : unpackings_) {
    if (!unpacking.open) continue;
    for (std::size_t index = 0; index < unpacking.markers.size(); ++index) {
      if (unpacking.markers[index] != value) continue;
      unpacking.targets[index] = target;
      if (++unpacking.filled == unpacking.markers.size()) close_unpacking(unpacking);
      return;
    }
  }
  fail("a target without its unpacking");
}

void Lifter::close_unpacking(Unpacking& unpacking) {
  unpacking.open = false;
  std::vector<Expr*> targets;
  for (std::size_t index = 0; index < unpacking.targets.size(); ++index)
    targets.push_back(int(index) == unpacking.star ? make(Starred{unpacking.targets[index]})
                                                   : unpacking.targets[index]);
  // The targets have the position of the unpacking, not that of the store which completes them.
  const Instruction& instruction = code_[unpacking.at];
  Expr* target = context_.expr(Tuple{context_.arena.copy(targets)}, instruction.offset, instruction.line);
  if (targets.empty()) target->node = ListExpr{};
  Entry source = unpacking.source;
  store(target, source);
}

// Something comes between the stores of an unpacking: what is not stored yet gets names.
void Lifter::flush_unpackings() {
  for (std::size_t index = 0; index < unpackings_.size(); ++index) {
    if (!unpackings_[index].open) continue;
    Unpacking& unpacking = unpackings_[index];
    for (std::size_t slot = 0; slot < unpacking.markers.size(); ++slot) {
      if (unpacking.targets[slot]) continue;
      std::string_view id = fresh_name();
      *unpacking.markers[slot] = Expr{Name{id}, unpacking.markers[slot]->offset, unpacking.markers[slot]->line};
      unpacking.targets[slot] = context_.name(id);
    }
    close_unpacking(unpackings_[index]);
  }
  unpackings_.clear();
}

bool Lifter::define(Expr* target, Expr* value) {
  auto* name = as<Name>(target);
  if (!name) return false;
  std::vector<Expr*> decorators;
  Expr* inner = value;
  while (!is_class(inner)) {
    auto* call = as<Call>(inner);
    if (!call || call->args.size() != 1 || !call->keywords.empty() || is<Starred>(call->args[0])) break;
    decorators.push_back(call->func);
    inner = call->args[0];
  }
  auto fits = [&](std::string_view own) {
    return name->id == own || (own.starts_with("__") && name->id.starts_with("_") && name->id.ends_with(own));
  };
  Stmt* made = nullptr;
  if (auto* internal = as<Internal>(inner); internal && internal->marker == Marker::type_alias && inner == value &&
                                            fits(context_.type_aliases[internal->index].name)) {
    made = type_alias(internal->index, context_.name(context_.type_aliases[internal->index].name));
  } else if (is_function(inner)) {
    const FunctionValue function = context_.functions[as<Internal>(inner)->index];
    if (!fits(function.code->name)) return false;
    made = function_def(function, function.code->name, decorators);
  } else if (is_class(inner)) {
    const Call& call = *as<Call>(inner);
    auto* text = call.args.size() > 1 ? as<ConstantExpr>(call.args[1]) : nullptr;
    if (!text || !fits(text->value->text)) return false;
    made = class_def(call, text->value->text, decorators);
  }
  if (!made) return false;
  int line = made->line;
  if (auto* function = as<FunctionDef>(made)) function->keyword_line = now().line;
  if (auto* definition = as<ClassDef>(made)) definition->keyword_line = now().line;
  emit(made->node);
  nodes_[node_].statements.back()->line = line >= 0 ? line : nodes_[node_].statements.back()->line;
  return true;
}

}  // namespace depyf
