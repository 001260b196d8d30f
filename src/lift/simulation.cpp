// Emits statements. Before a statement is emitted, each value on the stack that other code can change is stored in a
// temporary, because the value was evaluated earlier than the statement. In the examples below, f and g are global
// functions.
//
//   `g; LOAD_GLOBAL a; f(); POP_TOP; CALL 1` becomes `t = g; u = a; f(); t(u)`, because f may change the global a.
//   `g; LOAD_FAST a; f(); POP_TOP; CALL 1` becomes `t = g; f(); t(a)`, because f cannot change the local a.
//
// Before a statement is emitted, the `ast::Internal` markers in the statement, which only the simulation understands,
// are replaced by Python expressions.
#include "lift/simulation.h"

#include <algorithm>

#include "ast/visit.h"
#include "lift/definitions.h"
#include "lift/operations.h"
#include "lift/stores.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

namespace {
// Returns the variable that `stmt` stores or deletes; an empty name if `stmt` stores or deletes no single variable.
std::string_view stored_name(const Stmt* stmt) {
  const Expr* target = nullptr;
  if (auto* assign = as<Assign>(stmt)) target = assign->targets.size() == 1 ? assign->targets[0] : nullptr;
  if (auto* augmented = as<AugAssign>(stmt)) target = augmented->target;
  if (auto* remove = as<Delete>(stmt)) target = remove->targets[0];
  if (auto* name = as<Name>(target)) return name->id;
  return {};
}
// True if the expression is the variable `id`, or a tuple that contains it.
bool mentions(const Expr* expr, std::string_view id) {
  if (auto* name = as<Name>(expr)) return name->id == id;
  if (auto* tuple = as<Tuple>(expr))
    return std::any_of(tuple->elts.begin(), tuple->elts.end(), [&](Expr* e) { return mentions(e, id); });
  return false;
}
// Throws Restart for an in-place operation, and for a walrus with a target other than a name, because neither is a
// Python expression. The thrown Restart identifies the expression by its offset.
void refuse_statement(const BinOp& binary, std::uint32_t offset) {
  if (binary.in_place) throw Restart{-1 - int(offset)};
}
void refuse_statement(const NamedExpr& named, std::uint32_t offset) {
  if (!is<Name>(named.target)) throw Restart{-1 - int(offset)};
}
}  // namespace

Stack& Stack::operator=(const Stack& other) {
  if (this == &other) return *this;
  if (capacity_ < other.depth_) {
    entries_ = std::make_unique<Entry[]>(other.depth_);
    capacity_ = other.depth_;
  }
  std::copy(other.begin(), other.end(), begin());
  depth_ = other.depth_;
  return *this;
}

void Stack::grow() {
  constexpr std::size_t usual = 8;
  const std::size_t capacity = std::max(usual, 2 * capacity_);
  auto entries = std::make_unique<Entry[]>(capacity);
  std::copy(begin(), end(), entries.get());
  entries_ = std::move(entries);
  capacity_ = capacity;
}

// Fills `with_at`, in which `enter_with` looks up the region of a with statement by the first instruction of its body.
Simulation::Simulation(Context& shared, const DecodedCode& decoded, const Cfg& cfg, bool flat,
                       const std::set<int>& literal, Split split)
    : context(shared),
      cursor{shared, decoded, cfg, cfg.code, flat, literal, split},
      names(shared, decoded, cfg.code),
      graph(cfg.blocks.size()) {
  for (RegionIndex index = 0; index < int(cfg.regions.size()); ++index) {
    const Region& region = cfg.regions[index];
    if (region.kind == Region::Kind::with && region.setup >= 0) rare->with_at[cfg.blocks[region.setup].begin] = index;
  }
}

// Each value is stored in a temporary by the node that evaluates the value. A value that an earlier node evaluates is
// stored by a statement at the end of that earlier node, before the values of later nodes are stored.
void Simulation::spill_at_end(NodeIndex node, std::size_t count) {
  Stack& ended = graph.states[node].stack;
  for (std::size_t index = 0; index < count && index < ended.size(); ++index) {
    if (names.stable(ended[index].expr)) continue;
    // The iterator of a running for loop needs no temporary.
    if (auto* internal = as<Internal>(ended[index].expr);
        internal && internal->marker == Marker::iterator && !internal->value)
      continue;
    NodeIndex owner = graph.find(ended[index].block);
    if (owner != node) spill_at_end(owner, graph.states[owner].stack.size());
    if (names.stable(ended[index].expr)) continue;
    // For a value that SWAP or ROTATE has moved, the order of evaluation is not known.
    if (ended[index].mover >= 0) throw Restart{ended[index].mover};
    spill(ended[index]);
  }
}

Entry& Simulation::peek(int from_top) {
  if (from_top < 1 || from_top > int(stack.size())) cursor.fail("the stack is not that deep");
  return stack.end()[-from_top];
}

void Simulation::check_operand(const Entry& entry) {
  if (entry.mover >= 0 && !names.stable(entry.expr)) throw Restart{entry.mover};
  if (is_unpacked(entry.expr)) flush_unpackings(*this);
}

List<Expr*> Simulation::pop_many(int count) {
  if (count < 0 || count > int(stack.size())) cursor.fail("the stack is not that deep");
  const List<Expr*> popped = context.arena.list<Expr*>(std::size_t(count));
  const std::size_t kept = stack.size() - popped.size();
  bool is_usual = true;
  for (std::size_t index = 0; index < popped.size(); ++index) {
    const Entry& entry = stack[kept + index];
    popped[index] = entry.expr;
    is_usual &= !needs_check(entry);
  }
  if (is_usual) stack.shrink(kept);
  else
    for (std::size_t index = popped.size(); index--;) popped[index] = pop();
  return popped;
}

void Simulation::mark_builtin(const char* name, std::uint32_t offset) {
  if (cursor.flat) return;  // a state machine has one `not equal` comment for all of its code
  const std::string text =
      std::string("depyf: not equal: ") + name + "() is called by its name (offset " + std::to_string(offset) + ")";
  emit_raw(Comment{context.arena.copy(text)});
}

Call Simulation::builtin_call(const char* name, std::span<Expr*> args, std::uint32_t offset) {
  mark_builtin(name, offset);
  return {context.name(name), args, {}};
}

// The name of the temporary overwrites the expression in place, because other stacks may contain the same expression.
void Simulation::spill(Entry& entry) {
  Expr* expr = entry.expr;
  if (auto* internal = as<Internal>(expr)) {
    if (internal->marker == Marker::copied) throw Restart{internal->index};
    // An iterator that is not the iterator of a for loop is a call of iter().
    if (internal->marker == Marker::iterator && internal->value) {
      *expr = Expr{builtin_call("iter", context.list({internal->value}), expr->offset), expr->offset, expr->line};
    } else if (internal->marker == Marker::unpacked) {
      return flush_unpackings(*this);
    } else if (internal->marker == Marker::chain) {
      throw Restart{internal->index};
    } else if (internal->marker == Marker::code) {
      return;
    }
  }
  Expr* value = context.arena.make<Expr>(*expr);
  std::string_view id = names.fresh_name();
  *expr = Expr{Name{id}, expr->offset, expr->line};
  entry.mover = -1;
  settle(value);
  auto* statement = context.stmt(Assign{context.list({context.name(id)}), value}, expr->offset, expr->line);
  const auto node = graph.find(entry.block);
  graph.nodes[node].statements.push_back(context.arena, statement);
  if (node == graph.node) cursor.begin_behind(expr->offset);
}

void Simulation::spill_all(std::size_t count) {
  // A value of another node is stored in a temporary at the end of that node.
  for (std::size_t index = 0; index < count && index < stack.size(); ++index) {
    Entry& entry = stack[index];
    if (names.stable(entry.expr)) continue;
    if (graph.find(entry.block) != graph.node) spill_at_end(graph.find(entry.block), stack.size());
    if (!names.stable(entry.expr)) spill(entry);
  }
}

// The new statement gets the offset of the first instruction behind the previous statement.
void Simulation::emit_raw(Stmt* stmt) {
  const bool decorated = is<FunctionDef>(stmt) || is<ClassDef>(stmt);
  stmt->offset = cursor.first_offset, stmt->line = cursor.now().line;
  stmt->column = decorated ? -1 : cursor.first_column();
  graph.nodes[graph.node].statements.push_back(context.arena, stmt);
  if (cursor.at + 1 < int(cursor.code.size())) cursor.first_offset = cursor.code[cursor.at + 1].offset;
  cursor.first_at = cursor.at + 1;
}

// An InternalStmt other than `append` changes no values, so no value on the stack has to be stored in a temporary
// before such an InternalStmt is emitted.
void Simulation::emit(Stmt* stmt) {
  flush_unpackings(*this);
  if (auto* marker = as<InternalStmt>(stmt); marker && marker->marker != StmtMarker::append) return emit_raw(stmt);
  if (has_unsettled_) for_each_expr(stmt, [&](Expr*& expr) { settle(expr); });
  const std::string_view stored = stack.empty() ? std::string_view() : stored_name(stmt);
  for (std::size_t index = 0; index < stack.size(); ++index) {
    Entry& entry = stack[index];
    // If the statement stores a local, each load of that local that is still on the stack must be stored in a temporary
    // first.
    bool overwritten = !stored.empty() && mentions(entry.expr, stored);
    if (names.stable(entry.expr) && !overwritten) continue;
    if (entry.mover >= 0) throw Restart{entry.mover};
    if (graph.find(entry.block) != graph.node)
      spill_at_end(graph.find(entry.block), graph.states[graph.find(entry.block)].stack.size());
    if (!names.stable(entry.expr) || (overwritten && mentions(entry.expr, stored))) spill(entry);
  }
  emit_raw(stmt);
}

bool Simulation::settle_node(Expr*& slot, const Internal& internal) {
  const Marker marker = internal.marker;
  // If the expression still contains the marker of a copy or of a chained comparison, the marker belongs to no known
  // pattern, so lifting restarts.
  if (marker == Marker::copied || marker == Marker::chain) throw Restart{internal.index};
  if (marker == Marker::function || marker == Marker::type_alias) hoist(*this, slot);
  else if (marker == Marker::code) slot->node = named_constant(context, cursor, names, internal.index)->node;
  else if (marker == Marker::unpacked) flush_unpackings(*this);
  else if (marker == Marker::awaitable) *slot = Expr{Await{internal.value}, slot->offset, slot->line};
  else if (marker == Marker::iterator && internal.value)
    *slot = Expr{builtin_call("iter", context.list({internal.value}), slot->offset), slot->offset, slot->line};
  // Of the markers that are replaced here, only those of awaitables and iterators contain expressions that `settle` has
  // to visit.
  return marker == Marker::awaitable || marker == Marker::iterator;
}

// Outside of a subscript, a slice is replaced by a call of slice().
bool Simulation::settle_node(Expr*& slot, const Slice& slice) {
  auto part = [&](Expr* value) { return value ? value : context.none(); };
  Expr *lower = part(slice.lower), *upper = part(slice.upper);
  auto args = slice.step ? context.list({lower, upper, slice.step}) : context.list({lower, upper});
  slot->node = builtin_call("slice", args, slot->offset);
  return true;
}

// Visits the parts of `expr` with an explicit stack, because `expr` may be very deep.
void Simulation::settle_parts(Expr*& expr) {
  Table<Expr**>& todo = settling_;
  // The entries below `base` belong to an outer call of `settle`: `hoist`, which `settle` calls, may call `settle`
  // again.
  const std::size_t base = todo.size();
  auto later = [&](Expr*& part) {
    if (has_parts(part)) todo.push_back(&part);
  };
  auto parts = visitor_of_parts(later);
  // A slice stays a slice only as the index of a subscript, or as an item of a tuple that is the index of a subscript.
  auto in_subscript = [&](Expr*& part) {
    if (auto* slice = as<Slice>(part)) parts(*slice);
    else later(part);
  };
  todo.push_back(&expr);
  while (todo.size() > base) {
    Expr*& slot = *todo.back();
    todo.pop_back();
    visit_kind(slot->node, [&]<class Kind>(Kind& node) {
      if constexpr (std::is_same_v<Kind, Subscript>) {
        later(node.value);
        if (auto* tuple = as<Tuple>(node.slice)) std::ranges::for_each(tuple->elts, in_subscript);
        else in_subscript(node.slice);
      } else if constexpr (std::is_same_v<Kind, Internal> || std::is_same_v<Kind, Slice>) {
        // The children are visited through `slot`, because `settle_node` may have replaced the node.
        if (settle_node(slot, node)) for_each_child(slot, later);
      } else if constexpr (std::is_same_v<Kind, Call>) {
        if (is_class(slot)) hoist(*this, slot);
        else parts(node);
      } else {
        if constexpr (requires { refuse_statement(node, slot->offset); }) refuse_statement(node, slot->offset);
        parts(node);
      }
    });
  }
}

}  // namespace depyf::lifting
