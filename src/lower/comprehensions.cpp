#include <algorithm>

#include "decode/op.h"
#include "lower/awaits.h"
#include "lower/comprehensions.h"
#include "lower/expressions.h"
#include "lower/targets.h"

namespace depyf::lowering {
using namespace ast;

namespace {

// Returns the operation that gets the iterator of the outermost loop.
Op first_iterator(const ComprehensionExpr& node) {
  return node.generators[0].is_async ? Op::get_aiter_ : Op::get_iter_;
}

std::string_view name_of(ComprehensionKind kind) {
  switch (kind) {
    case ComprehensionKind::list: return "<listcomp>";
    case ComprehensionKind::set: return "<setcomp>";
    case ComprehensionKind::dict: return "<dictcomp>";
    case ComprehensionKind::generator: return "<genexpr>";
  }
  return "";
}

void generators(Unit& unit, const ast::ComprehensionExpr& node, std::size_t index, int depth);

// Emits an inlined comprehension (3.12 and later). The variables of the comprehension get slots of their own, which
// are cleared at the end of the comprehension.
void inlined_comprehension(Unit& unit, const ComprehensionExpr& node, Scope* inner) {
  Scope* around = unit.names.scope;
  std::vector<std::int32_t> own;
  for (auto& [name, symbol] : inner->symbols.entries()) {
    if (symbol.home != Home::local) continue;
    own.push_back(unit.names.slot(name.text(), symbol));
    if (symbol.is_cell) unit.code.emit(Op::make_cell_, symbol.slot);
  }
  if (node.kind == ComprehensionKind::list) unit.code.emit(Op::build_list_, 0);
  if (node.kind == ComprehensionKind::set) unit.code.emit(Op::build_set_, 0);
  if (node.kind == ComprehensionKind::dict) unit.code.emit(Op::build_map_, 0);
  unit.code.emit(Op::swap_, 2);
  // In 3.15, GET_ITER or GET_AITER follows the creation of the empty list, set or dict.
  if (unit.dialect.iterating_generators) unit.code.emit(first_iterator(node));
  // The variables of the comprehension are also cleared before an exception leaves it, because a handler, or a caller
  // that looks at the frame, may read the locals.
  const int outside = unit.code.handler;
  const Label raised = unit.code.label(), end = unit.code.label();
  unit.code.handler = unit.code.protect(raised, unit.code.depth);
  unit.names.scope = inner;
  generators(unit, node, 0, 0);
  unit.names.scope = around;
  unit.code.handler = outside;
  const auto clear = [&] {
    for (std::int32_t index : own) {
      unit.code.emit(Op::load_fast_and_clear_, index);
      unit.code.emit(Op::pop_top_);
    }
  };
  clear();
  unit.code.jump(Op::jump_, end);
  unit.code.place(raised);
  clear();
  unit.code.emit(Op::reraise_, 0);
  unit.code.place(end);
}

// Emits the YIELD_VALUE for the item of a generator expression, and drops the value that the caller sends.
void yield_item(Unit& unit) {
  if (unit.dialect.wrapped_async_items && unit.is_async_generator()) unit.code.emit(Op::async_gen_wrap_);
  unit.code.emit(Op::yield_value_, 0);
  unit.code.emit(Op::resume_, 1);
  unit.code.emit(Op::pop_top_);
}

// Emits the code that adds one item to the result of a comprehension, or all items of `*value` or `**value` (3.15).
// `depth` is the number of iterators that lie on the stack above the result.
void item(Unit& unit, const ComprehensionExpr& node, int depth) {
  auto* starred = node.elt ? as<Starred>(node.elt) : nullptr;
  if (node.elt) expr(unit, starred ? starred->value : node.elt);
  switch (node.kind) {
    case ComprehensionKind::generator:
      if (starred) {
        const Label again = unit.code.label(), end = unit.code.label();
        unit.code.emit(Op::get_iter_);
        unit.code.place(again);
        unit.code.jump(Op::for_iter_, end);
        yield_item(unit);
        unit.code.jump(Op::jump_, again);
        unit.code.place(end);
      } else {
        yield_item(unit);
      }
      break;
    case ComprehensionKind::list: unit.code.emit(starred ? Op::list_extend_ : Op::list_append_, depth + 1); break;
    case ComprehensionKind::set: unit.code.emit(starred ? Op::set_update_ : Op::set_add_, depth + 1); break;
    case ComprehensionKind::dict:
      expr(unit, node.value);
      unit.code.emit(node.elt ? Op::map_add_ : Op::dict_update_, depth + 1);
      break;
  }
}

// From 3.9 on, `for x in [value]` in a comprehension is compiled to an assignment. Pushes the value and returns true if
// `loop` is such a loop.
bool assigns_single_item(Unit& unit, const Comprehension& loop) {
  if (!unit.dialect.assigned_single_items || loop.is_async) return false;
  // Up to 3.13, a display of constants is one constant already.
  const bool is_late = unit.dialect.late_folding;
  if (auto* folded = as<ConstantExpr>(loop.iter)) {
    const Constant& value = *folded->value;
    if (!is_late || value.kind != Constant::Kind::tuple || value.items.size() != 1) return false;
    unit.code.load(value.items[0]);
    return true;
  }
  auto* list = as<ListExpr>(loop.iter);
  auto* tuple = as<Tuple>(loop.iter);
  const List<Expr*> items = list ? list->elts : tuple ? tuple->elts : List<Expr*>{};
  if (items.size() != 1 || is<Starred>(items[0]) || (is<ConstantExpr>(items[0]) && !is_late)) return false;
  expr(unit, items[0]);
  return true;
}

// Emits the loop `node.generators[index]` of a comprehension and the loops nested in it. The iterator of the outermost
// loop is on the stack. `depth` is the number of iterators of outer loops that lie on the stack above the result.
void generators(Unit& unit, const ComprehensionExpr& node, std::size_t index, int depth) {
  const Comprehension& loop = node.generators[index];
  const Label again = unit.code.label(), end = unit.code.label(), next = unit.code.label();
  const int outside = unit.code.handler;
  bool looped = true;
  if (index > 0) {
    looped = !assigns_single_item(unit, loop);
    if (looped) {
      expr(unit, loop.iter);
      unit.code.emit(loop.is_async ? Op::get_aiter_ : Op::get_iter_);
    } else {
      store(unit, loop.target);
    }
  }
  if (looped) {
    unit.code.place(again);
    // An exhausted asynchronous iterator raises StopAsyncIteration, so END_ASYNC_FOR is an exception handler.
    if (loop.is_async) {
      unit.code.handler = unit.code.protect(end, unit.code.depth);
      unit.code.emit(Op::get_anext_);
      unit.code.load_none();
      send_loop(unit.code, unit.dialect, true);
      unit.code.handler = outside;
    } else {
      unit.code.jump(Op::for_iter_, end);
    }
    store(unit, loop.target);
    ++depth;
  }
  // If a condition is false, the loop continues with its next item.
  for (const Expr* test : loop.ifs) condition(unit, test, looped ? again : next, false);
  if (index + 1 < node.generators.size()) {
    generators(unit, node, index + 1, depth);
  } else {
    item(unit, node, depth);
  }
  if (!looped) {
    unit.code.place(next);
    return;
  }
  unit.code.jump(Op::jump_, again);
  unit.code.place(end);
  if (loop.is_async) unit.code.emit(Op::end_async_for_);
}

}  // namespace

void comprehension(Unit& unit, const ComprehensionExpr& node, const Expr* whole) {
  if (node.generators.empty()) fail("a comprehension without a loop");
  Scope* inner = unit.names.scope->children.at(whole);
  const Comprehension& first = node.generators[0];
  // The outermost iterable is evaluated in the scope around the comprehension.
  if (inner->inlined) {
    expr(unit, first.iter);
    if (!unit.dialect.iterating_generators) unit.code.emit(first_iterator(node));
    inlined_comprehension(unit, node, inner);
    return;
  }
  // In 3.15, the code object of the comprehension itself calls iter() for the outermost iterable. A generator
  // expression calls iter() before RETURN_GENERATOR, and any other comprehension after it has created the empty list,
  // set or dict.
  const bool gets_iterator = unit.dialect.iterating_generators;
  const bool is_generator = node.kind == ComprehensionKind::generator;
  const std::string own_name(name_of(node.kind));
  const Header header{.name = own_name,
                      .qualname = unit.qualified(own_name),
                      .iterates = gets_iterator && is_generator ? first_iterator(node) : Op::nop_};
  auto code = unit.nested(whole, header, [&](Unit& within) {
    if (node.kind == ComprehensionKind::list) within.code.emit(Op::build_list_, 0);
    if (node.kind == ComprehensionKind::set) within.code.emit(Op::build_set_, 0);
    if (node.kind == ComprehensionKind::dict) within.code.emit(Op::build_map_, 0);
    if (!gets_iterator || !is_generator) within.code.emit(Op::load_fast_, within.names.slot(inner, ".0"));
    if (gets_iterator && !is_generator) within.code.emit(first_iterator(node));
    generators(within, node, 0, 0);
    if (is_generator) within.code.load_none();
    within.code.emit(Op::return_value_);
  });
  unit.make_function(code, 0);
  expr(unit, first.iter);
  if (!gets_iterator) unit.code.emit(first_iterator(node));
  unit.code.emit(Op::call_function_, 1);
  // A comprehension with `async for` or `await` is a coroutine, which the enclosing code awaits.
  if (inner->is_coroutine && !is_generator) await_value(unit.code, unit.dialect);
}

}  // namespace depyf::lowering
