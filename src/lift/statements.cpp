// A statement is made: what waits on the stack and was evaluated before it gets a name, unless nothing can change its value.
//
//   g; LOAD_GLOBAL a; <f()>; POP_TOP; CALL 1        t = g; u = a; f(); t(u)
//   g; LOAD_FAST a; <f()>; POP_TOP; CALL 1          t = g; f(); t(a)
//
// What only the simulation knows becomes something that Python has before it stands in a statement.
#include <algorithm>

#include "depyf/code_object.h"
#include "lift/lifter.h"

namespace depyf {
using namespace ast;

namespace {
std::string_view stored_name(const Stmt::Node& node) {
  const Expr* target = nullptr;
  if (auto* assign = std::get_if<Assign>(&node)) target = assign->targets.size() == 1 ? assign->targets[0] : nullptr;
  if (auto* augmented = std::get_if<AugAssign>(&node)) target = augmented->target;
  if (auto* remove = std::get_if<Delete>(&node)) target = remove->targets[0];
  if (auto* name = as<Name>(target)) return name->id;
  return {};
}
bool mentions(const Expr* expr, std::string_view id) {
  if (auto* name = as<Name>(expr)) return name->id == id;
  if (auto* tuple = as<Tuple>(expr))
    return std::any_of(tuple->elts.begin(), tuple->elts.end(), [&](Expr* e) { return mentions(e, id); });
  return false;
}
}  // namespace

// Can it be evaluated later, whatever happens in between (but a store to the local itself)?
bool Lifter::stable(const Expr* expr) const {
  int parts = 1000;
  return stable(expr, parts);
}

bool Lifter::stable(const Expr* expr, int& parts) const {
  if (--parts < 0) return false;
  if (is<ConstantExpr>(expr)) return true;
  if (auto* name = as<Name>(expr)) return is_fast(name->id);
  if (auto* internal = as<Internal>(expr)) {
    const Marker marker = internal->marker;
    if (marker == Marker::iterator) return internal->value == nullptr;
    if (marker == Marker::function) {
      const FunctionValue& function = context_.functions[internal->index];
      for (Expr* part : {function.defaults, function.kw_defaults, function.deferred ? nullptr : function.annotations})
        if (part && !stable(part, parts)) return false;
      return true;
    }
    return marker != Marker::copied && marker != Marker::chain && marker != Marker::awaitable &&
           marker != Marker::import_module;
  }
  if (auto* tuple = as<Tuple>(expr))
    return std::all_of(tuple->elts.begin(), tuple->elts.end(), [&](Expr* e) { return stable(e, parts); });
  // It stands for itself only in a subscript: elsewhere it is a call of slice().
  if (auto* slice = as<Slice>(expr)) {
    for (Expr* part : {slice->lower, slice->upper, slice->step})
      if (part && !stable(part, parts)) return false;
    return true;
  }
  return false;
}

void Lifter::spill(Entry& entry) {
  Expr* expr = entry.expr;
  if (auto* internal = as<Internal>(expr)) {
    if (internal->marker == Marker::copied) throw Restart{internal->index};
    if (internal->marker == Marker::iterator && internal->value) {
      *expr = Expr{Call{context_.name("iter"), context_.list({internal->value}), {}}, expr->offset, expr->line};
    } else if (internal->marker == Marker::unpacked) {
      return flush_unpackings();
    } else if (internal->marker == Marker::chain) {
      throw Restart{internal->index};
    } else if (internal->marker == Marker::code) {
      return;
    }
  }
  Expr* value = context_.arena.make<Expr>(*expr);
  std::string_view id = fresh_name();
  *expr = Expr{Name{id}, expr->offset, expr->line};
  entry.mover = -1;
  settle(value);
  auto* statement = context_.stmt(Assign{context_.list({context_.name(id)}), value}, expr->offset, expr->line);
  nodes_[find(entry.block)].statements.push_back(statement);
}

void Lifter::spill_all(std::size_t count) {
  for (std::size_t index = 0; index < count && index < stack_.size(); ++index) {
    Entry& entry = stack_[index];
    if (stable(entry.expr)) continue;
    if (find(entry.block) != node_) spill_at_end(find(entry.block), stack_.size());
    if (!stable(entry.expr)) spill(entry);
  }
}

// Where the statement being made begins in its line, by the positions of its instructions; -1: unknown.
std::int32_t Lifter::first_column() const {
  const std::vector<Position>& positions = decoded_.code->positions;
  std::int32_t column = -1;
  for (int at = first_at_; at <= at_ && at < int(code_.size()); ++at) {
    const std::size_t unit = code_[at].offset / 2;
    if (unit >= positions.size() || positions[unit].line != now().line || positions[unit].column < 0) continue;
    if (column < 0 || positions[unit].column < column) column = positions[unit].column;
  }
  return column;
}

void Lifter::emit_raw(Stmt::Node node) {
  const bool decorated = std::holds_alternative<FunctionDef>(node) || std::holds_alternative<ClassDef>(node);
  const std::int32_t column = decorated ? -1 : first_column();
  std::vector<Stmt*>& statements = nodes_[node_].statements;
  if (statements.empty()) statements.reserve(4);
  statements.push_back(context_.stmt(std::move(node), first_offset_, now().line, column));
  if (at_ + 1 < int(code_.size())) first_offset_ = code_[at_ + 1].offset;
  first_at_ = at_ + 1;
}

void Lifter::emit(Stmt::Node node) {
  flush_unpackings();
  if (auto* marker = std::get_if<InternalStmt>(&node); marker && marker->marker != StmtMarker::append)
    return emit_raw(node);
  std::string_view stored = stored_name(node);
  Stmt holder{std::move(node)};
  for_each_expr(&holder, [&](Expr*& expr) { settle(expr); });
  for (std::size_t index = 0; index < stack_.size(); ++index) {
    Entry& entry = stack_[index];
    bool overwritten = !stored.empty() && mentions(entry.expr, stored);
    if (stable(entry.expr) && !overwritten) continue;
    if (entry.mover >= 0) throw Restart{entry.mover};
    if (find(entry.block) != node_) spill_at_end(find(entry.block), states_[find(entry.block)].stack.size());
    if (!stable(entry.expr) || (overwritten && mentions(entry.expr, stored))) spill(entry);
  }
  emit_raw(std::move(holder.node));
}

// What only the simulation knows becomes something that Python has.
void Lifter::settle(Expr*& expr) {
  if (!expr || is<Name>(expr) || is<ConstantExpr>(expr)) return;
  std::vector<Expr**>& todo = settling_;
  const std::size_t base = todo.size();  // what stands below belongs to who asked for this
  todo.push_back(&expr);
  while (todo.size() > base) {
    Expr*& slot = *todo.back();
    todo.pop_back();
    if (!slot) continue;
    if (auto* internal = as<Internal>(slot)) {
      const Marker marker = internal->marker;
      if (marker == Marker::copied || marker == Marker::chain) throw Restart{internal->index};
      if (marker == Marker::function || marker == Marker::type_alias) hoist(slot);
      else if (marker == Marker::code) slot->node = named_constant(internal->index)->node;
      else if (marker == Marker::unpacked) flush_unpackings();
      else if (marker == Marker::awaitable) *slot = Expr{Await{internal->value}, slot->offset, slot->line};
      else if (marker == Marker::iterator && internal->value)
        *slot = Expr{Call{context_.name("iter"), context_.list({internal->value}), {}}, slot->offset, slot->line};
      // The parts of an await or an iterator, and of nothing else, have marks of their own.
      if (marker != Marker::awaitable && marker != Marker::iterator) continue;
    }
    if (is_class(slot)) {
      hoist(slot);
      continue;
    }
    if (auto* subscript = as<Subscript>(slot)) {
      todo.push_back(&subscript->value);
      auto in_subscript = [&](Expr*& part) {
        if (is<Slice>(part)) for_each_child(part, [&](Expr*& child) { todo.push_back(&child); });
        else todo.push_back(&part);
      };
      if (auto* tuple = as<Tuple>(subscript->slice))
        for (Expr*& part : tuple->elts) in_subscript(part);
      else in_subscript(subscript->slice);
      continue;
    }
    if (auto* slice = as<Slice>(slot)) {
      auto part = [&](Expr* value) { return value ? value : context_.none(); };
      Expr *lower = part(slice->lower), *upper = part(slice->upper);
      auto args = slice->step ? context_.list({lower, upper, slice->step}) : context_.list({lower, upper});
      slot->node = Call{context_.name("slice"), args, {}};
    }
    if (auto* binary = as<BinOp>(slot); binary && binary->in_place) throw Restart{-1 - int(slot->offset)};
    if (auto* named = as<NamedExpr>(slot); named && !is<Name>(named->target)) throw Restart{-1 - int(slot->offset)};
    for_each_child(slot, [&](Expr*& child) { todo.push_back(&child); });
  }
}

}  // namespace depyf
