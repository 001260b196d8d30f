// Lifts stores: assignments of every kind, and definitions, which are stores of functions and classes.
//
//   `v; COPY 1; STORE a; STORE b` is `a = b = v`.
//   `v; COPY 1; STORE a` is the walrus expression `(a := v)` if another instruction uses the value that is left.
//   `v; UNPACK_SEQUENCE 2; STORE a; STORE b` is `a, b = v`.
//   `x; y; SWAP 2; STORE a; STORE b` is `a, b = x, y`.
//   `x; y; STORE b; STORE a`, with exchanged stores instead of SWAP, is `a, b = x, y` too.
//   `x; y; STORE a; POP_TOP` is `a, a = x, y`.
//   `a; v; BINARY_OP +=; STORE a` is `a += v`.
#include <algorithm>

#include "ast/equal.h"
#include "decode/op.h"
#include "decode/op_info.h"
#include "dialect/dialect.h"
#include "flow/cfg.h"
#include "lift/annotations.h"
#include "lift/definitions.h"
#include "lift/generics.h"
#include "lift/operations.h"
#include "lift/stores.h"
#include "support/search_limits.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

namespace {
// True if SWAP exchanged `value` with other values, and the store of `value` has not been reached.
bool is_swapped(Simulation& sim, const Expr* value) {
  return !sim.stores.swaps.empty() && sim.rare->swap_of.contains(value);
}

// True if both expressions denote the same target. A marker of a copy (`Marker::copied`) in `one` matches the copied
// expression in `two`.
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

void close_unpacking(Simulation& sim, Unpacking& unpacking);

// Lifts an assignment `a, b = x, y` for which the compiler reversed the stores instead of the values. The compiler
// reverses only stores to locals, because the order of other stores can be observed. Returns false if the stores are
// not those of an assignment `a, b = x, y`.
bool store_run(Simulation& sim, Expr* target) {
  if (sim.stack.size() < 2 || sim.cursor.code[sim.cursor.at].op != Op::store_fast_) return false;
  std::size_t values = 0;
  while (values < sim.stack.size()) {
    // Count the values on the stack that the stores of `a, b = x, y` may take.
    const Entry& entry = sim.stack[sim.stack.size() - 1 - values];
    if (is<Internal>(entry.expr) && as<Internal>(entry.expr)->marker != Marker::function) break;
    if (entry.mover >= 0 || is_swapped(sim, entry.expr) || sim.graph.find(entry.block) != sim.graph.node) break;
    if (is<NamedExpr>(entry.expr)) break;
    ++values;
  }
  if (values < 2) return false;
  Table<Expr*> targets{target};
  int last = sim.cursor.at;
  // Collect the stores to locals that directly follow the current store. The compiler replaces a store that the next
  // store to the same local overwrites by POP_TOP, and the stores are reversed.
  for (int at = sim.cursor.skip(sim.cursor.at + 1); at < sim.cursor.end && targets.size() < values;
       at = sim.cursor.skip(at + 1)) {
    const Instruction& next = sim.cursor.code[at];
    if (next.op != Op::store_fast_ && next.op != Op::pop_top_) break;
    targets.push_back(next.op == Op::pop_top_ ? targets.back() : sim.cursor.target_name(next)), last = at;
  }
  if (targets.size() < 2) return false;
  std::reverse(targets.begin(), targets.end());
  Table<Expr*> items;
  for (std::size_t index = sim.stack.size() - targets.size(); index < sim.stack.size(); ++index) {
    items.push_back(sim.stack[index].expr);
    // The result of an in-place operation belongs to a separate augmented assignment.
    if (as<BinOp>(items.back()) && as<BinOp>(items.back())->in_place) return false;
  }
  sim.stack.shrink(sim.stack.size() - targets.size());
  sim.cursor.at = last;
  sim.emit(Assign{sim.context.list({sim.cursor.make(Tuple{sim.context.arena.copy(targets)})}),
                  sim.cursor.make(Tuple{sim.context.arena.copy(items)})});
  return true;
}

// Emits the assignment of `value` to `target`. A walrus expression as `value` comes from several targets: `v; COPY 1;
// STORE a; STORE b` is `a = b = v`.
void assign(Simulation& sim, Expr* target, Expr* value) {
  if (auto* binary = as<BinOp>(value); binary && binary->in_place) {
    if (!same_place(binary->left, target)) throw Restart{-1 - int(value->offset)};
    sim.emit(AugAssign{target, binary->op, binary->right});
    return;
  }
  if (!is<NamedExpr>(value)) return sim.emit(Assign{sim.context.list({target}), value});
  Table<Expr*> targets{target};
  while (auto* named = as<NamedExpr>(value)) {
    targets.insert(targets.begin(), named->target);
    value = named->value;
  }
  sim.emit(Assign{sim.context.arena.copy(targets), value});
}

// Sets `target` as the target of the unpacked item that the marker `value` represents, and emits the assignment when
// all targets of the unpacking are set.
void fill_unpacking(Simulation& sim, const Expr* value, Expr* target) {
  for (Unpacking& unpacking : sim.stores.unpackings) {
    if (!unpacking.open) continue;
    for (std::size_t index = 0; index < unpacking.markers.size(); ++index) {
      if (unpacking.markers[index] != value) continue;
      unpacking.targets[index] = target;
      if (++unpacking.filled == unpacking.markers.size()) close_unpacking(sim, unpacking);
      return;
    }
  }
  sim.cursor.fail("a target without its unpacking");
}

// Emits the assignment of a complete unpacking, which stores the unpacked value into a tuple of targets.
void close_unpacking(Simulation& sim, Unpacking& unpacking) {
  unpacking.open = false;
  Table<Expr*> targets;
  for (std::size_t index = 0; index < unpacking.targets.size(); ++index)
    targets.push_back(int(index) == unpacking.star ? sim.cursor.make(Starred{unpacking.targets[index]})
                                                   : unpacking.targets[index]);
  // The tuple of targets has the position of the UNPACK instruction, not that of the last store.
  const Instruction& instruction = sim.cursor.code[unpacking.at];
  Expr* target = sim.context.expr(Tuple{sim.context.arena.copy(targets)}, instruction.offset, instruction.line);
  if (targets.empty()) target->node = ListExpr{};
  Entry source = unpacking.source;
  store(sim, target, source);
}

// Returns `value` without the calls of decorators around it, for example `f` for `d(f)`. The call of a decorator has
// one argument.
Expr* undecorated(Expr* value) {
  while (!is_class(value)) {
    auto* call = as<Call>(value);
    if (!call || call->args.size() != 1 || !call->keywords.empty() || is<Starred>(call->args[0])) break;
    value = call->args[0];
  }
  return value;
}

// Emits a `def`, `class` or `type` statement for the store of a function, class or type alias under its own name, and
// returns false for any other store.
bool define(Simulation& sim, Expr* target, Expr* value) {
  auto* name = as<Name>(target);
  if (!name) return false;
  // Calls with one argument around the function or class are calls of decorators.
  Expr* const inner = undecorated(value);
  if (!is<Internal>(inner) && !is_class(inner)) return false;
  Table<Expr*> decorators;
  for (Expr* part = value; part != inner; part = as<Call>(part)->args[0]) decorators.push_back(as<Call>(part)->func);
  // Names that begin with two underscores are mangled in a class: __f becomes _C__f.
  auto fits = [&](std::string_view own) {
    return name->id == own || (own.starts_with("__") && name->id.starts_with("_") && name->id.ends_with(own));
  };
  Stmt* made = nullptr;
  if (auto* internal = as<Internal>(inner); internal && internal->marker == Marker::type_alias && inner == value &&
                                            fits(sim.context.type_aliases[internal->index].name)) {
    made = type_alias(sim.context, sim.cursor, internal->index,
                      sim.context.name(sim.context.type_aliases[internal->index].name));
  } else if (is_function(sim.context, inner)) {
    const FunctionValue function = sim.context.functions[as<Internal>(inner)->index];
    if (!fits(function.name)) return false;
    made = function_def(sim.context, sim.cursor, function, function.name, decorators);
  } else if (is_class(inner)) {
    const Call& call = *as<Call>(inner);
    auto* text = call.args.size() > 1 ? as<ConstantExpr>(call.args[1]) : nullptr;
    if (!text || !fits(text->value->text)) return false;
    made = class_def(sim.context, sim.cursor, call, text->value->text, decorators);
  }
  if (!made) return false;
  int line = made->line;
  if (auto* function = as<FunctionDef>(made)) function->keyword_line = sim.cursor.now().line;
  if (auto* definition = as<ClassDef>(made)) definition->keyword_line = sim.cursor.now().line;
  sim.emit(made);
  // The line of a definition is that of its first decorator, which is the first line of the code object.
  sim.graph.nodes[sim.graph.node].statements.back()->line =
      line >= 0 ? line : sim.graph.nodes[sim.graph.node].statements.back()->line;
  return true;
}

}  // namespace

// Stores the value on top of the stack in a variable.
void store_name(Simulation& sim, Expr* target) {
  if (!store_run(sim, target)) store(sim, target, sim.pop_entry());
  sim.forget_settled();
}

void store(Simulation& sim, Expr* target, Entry value) {
  Expr* expr = value.expr;
  // If SWAP exchanged the value with other values, the last store of these values completes the assignment `a, b = x,
  // y`.
  if (is_swapped(sim, expr)) {
    const auto group = sim.rare->swap_of.find(expr);
    SwapGroup& swap = sim.stores.swaps[group->second];
    sim.rare->swap_of.erase(group);
    swap.targets.push_back(target);
    if (swap.targets.size() < swap.values.size()) return;
    sim.emit(Assign{sim.context.list({sim.cursor.make(Tuple{sim.context.arena.copy(swap.targets)})}),
                    sim.cursor.make(Tuple{sim.context.arena.copy(swap.values)})});
    return;
  }
  if (auto* internal = as<Internal>(expr)) {
    const Marker marker = internal->marker;
    // The store of a copy turns the copied value into a walrus expression, or adds a target to `a = b = v`.
    if (marker == Marker::copied) {
      if (sim.stack.empty() || sim.stack.back().expr != internal->value) throw Restart{internal->index};
      sim.stack.back().expr = sim.context.expr(NamedExpr{target, internal->value}, expr->offset, expr->line);
      return;
    }
    if (marker == Marker::unpacked) return fill_unpacking(sim, expr, target);
    // The store of the item sets the target of a for loop.
    if (marker == Marker::item && !sim.cursor.flat) {
      sim.settle(target);
      sim.graph.nodes[internal->index].target = target;
      return;
    }
    // The store of the result of __enter__ sets the target behind `as` in a with statement.
    if (marker == Marker::enter_result && !sim.cursor.flat) {
      sim.settle(target);
      Node& setup = sim.graph.nodes[sim.cursor.cfg.regions[internal->index].setup];
      if (setup.target) sim.cursor.fail("a context manager bound twice");
      setup.target = target;
      return;
    }
    // The store of the exception binds the name behind `as` in an except clause.
    if (marker == Marker::exception && !sim.cursor.flat) {
      if (!is<Name>(target)) sim.cursor.fail("an exception bound to no name");
      sim.rare->bound_names.insert(as<Name>(target)->id);
      sim.emit(InternalStmt{StmtMarker::bind_exception, 0, target, nullptr});
      return;
    }
    // The stores of type parameters and of `.generic_base` are dropped, because `def f[T]` or `class C[T]` implies
    // these stores.
    if (marker == Marker::type_param || marker == Marker::generic_base) return;
  }
  // A function or class, with or without decorators, is represented by an `Internal` marker or a call.
  const bool may_be_definition = sim.has_definitions && (is<Internal>(expr) || is<Call>(expr));
  if (may_be_definition && (store_annotate(sim, target, expr) || define(sim, target, expr))) return;
  if (value.mover >= 0 && !sim.names.stable(expr)) {
    auto* binary = as<BinOp>(expr);
    if (!(binary && binary->in_place && same_place(binary->left, target))) throw Restart{value.mover};
  }
  assign(sim, target, expr);
}

// Pushes an `ast::Internal` marker for each target of an unpacking. The store that pops a marker sets the target of
// this marker.
void unpack(Simulation& sim, int before, int after, bool star) {
  Unpacking unpacking;
  unpacking.source = sim.pop_entry();
  unpacking.at = sim.cursor.at;
  // For `*args: *Ts` (3.11), UNPACK_SEQUENCE 1 unpacks Ts for the annotation, and the string below Ts on the stack is
  // the name of the parameter.
  if (before == 1 && after == 0 && !star && !sim.stack.empty() &&
      dialect_of(sim.cursor.decoded.version).starred_annotations &&
      constant_of(sim.stack.back().expr, Constant::Kind::string))
    return sim.push(Starred{unpacking.source.expr});
  if (unpacking.source.mover >= 0 && !sim.names.stable(unpacking.source.expr) &&
      !is_swapped(sim, unpacking.source.expr))
    throw Restart{unpacking.source.mover};
  if (star) unpacking.star = before;
  int count = before + after + star;
  if (count < 0 || count > search_limits::targets) sim.cursor.fail("too many targets");
  for (int index = 0; index < count; ++index) {
    unpacking.markers.push_back(sim.make(Internal{Marker::unpacked, sim.cursor.at, nullptr}));
    unpacking.targets.push_back(nullptr);
  }
  for (int index = count - 1; index >= 0; --index) sim.push(unpacking.markers[index]);
  sim.stores.unpackings.push_back(std::move(unpacking));
  if (count == 0) close_unpacking(sim, sim.stores.unpackings.back());
}

// Stores the remaining values of incomplete unpackings in temporaries, because another instruction comes between the
// stores.
void flush_open_unpackings(Simulation& sim) {
  for (std::size_t index = 0; index < sim.stores.unpackings.size(); ++index) {
    if (!sim.stores.unpackings[index].open) continue;
    Unpacking& unpacking = sim.stores.unpackings[index];
    for (std::size_t slot = 0; slot < unpacking.markers.size(); ++slot) {
      if (unpacking.targets[slot]) continue;
      std::string_view id = sim.names.fresh_name();
      *unpacking.markers[slot] = Expr{Name{id}, unpacking.markers[slot]->offset, unpacking.markers[slot]->line};
      unpacking.targets[slot] = sim.context.name(id);
    }
    close_unpacking(sim, sim.stores.unpackings[index]);
  }
  sim.stores.unpackings.clear();
}

}  // namespace depyf::lifting
