// Lowers statements. A jump out of statements first executes their cleanup code (see ways_out.cpp). The functions that
// lower statements are in one file, because each statement follows the same scheme: open, body, close.
#include <algorithm>

#include "ast/overloaded.h"
#include "decode/op.h"
#include "lower/annotations.h"
#include "lower/awaits.h"
#include "lower/definitions.h"
#include "lower/expressions.h"
#include "lower/generics.h"
#include "lower/imports.h"
#include "lower/matching.h"
#include "lower/statements.h"
#include "lower/targets.h"
#include "lower/try_statements.h"
#include "lower/ways_out.h"

namespace depyf::lowering {
using namespace ast;

// The functions below call each other.
namespace {

void assign(Unit& unit, const ast::Assign& node);
void annotated(Unit& unit, const ast::AnnAssign& node);
void if_stmt(Unit& unit, const ast::If& node);
void while_stmt(Unit& unit, const ast::While& node);
void for_stmt(Unit& unit, const ast::For& node);
void async_for(Unit& unit, const ast::For& node);
void with_stmt(Unit& unit, ast::List<ast::WithItem> items, ast::Block body, bool async);

// Emits a statement, by a table over the kinds of nodes.
void stmt(Unit& unit, const Stmt* stmt) {
  std::visit(Overloaded{
                 [&](const FunctionDef& n) { function_def(unit, n, stmt); },
                 [&](const ClassDef& n) { class_def(unit, n, stmt); },
                 [&](const Return& n) { return_stmt(unit, n); },
                 [&](const Delete& n) {
                   for (const Expr* target : n.targets) remove(unit, target);
                 },
                 [&](const Assign& n) { assign(unit, n); },
                 [&](const AugAssign& n) { augmented(unit, n); },
                 [&](const AnnAssign& n) { annotated(unit, n); },
                 [&](const TypeAlias& n) { type_alias(unit, n, stmt); },
                 [&](const For& n) { n.is_async ? async_for(unit, n) : for_stmt(unit, n); },
                 [&](const While& n) { while_stmt(unit, n); },
                 [&](const If& n) { if_stmt(unit, n); },
                 [&](const With& n) { with_stmt(unit, n.items, n.body, n.is_async); },
                 [&](const Match& n) { match_stmt(unit, n); },
                 [&](const Raise& n) {
                   if (n.exc) expr(unit, n.exc);
                   if (n.cause) expr(unit, n.cause);
                   unit.code.emit(Op::raise_, n.cause ? 2 : n.exc ? 1 : 0);
                 },
                 [&](const Try& n) { try_stmt(unit, n); },
                 [&](const Assert& n) {
                   const Label end = unit.code.label();
                   condition(unit, n.test, end, true);
                   if (!unit.dialect.global_assertion_error) unit.code.emit(Op::load_assertion_error_);
                   else unit.code.named(Op::load_global_, "AssertionError");
                   if (n.msg) {
                     expr(unit, n.msg);
                     unit.code.emit(Op::call_function_, 1);
                   }
                   unit.code.emit(Op::raise_, 1);
                   unit.code.place(end);
                 },
                 [&](const Import& n) { import_stmt(unit, n); },
                 [&](const ImportFrom& n) { import_from(unit, n); },
                 [&](const ExprStmt& n) {
                   if (is<ConstantExpr>(n.value)) return;  // the compiler emits no code for a constant
                   expr(unit, n.value);
                   unit.code.emit(Op::pop_top_);
                 },
                 [&](const Break&) { unwind_to_loop(unit, true); },
                 [&](const Continue&) { unwind_to_loop(unit, false); },
                 [&](const Global&) {},
                 [&](const Nonlocal&) {},
                 [&](const Pass&) {},
                 [&](const Comment&) {},
                 [&](const InternalStmt&) { fail("a part of the tree that was not finished"); },
             },
             stmt->node);
}

// Emits `a = b = value`, which copies the value for each target but the last.
void assign(Unit& unit, const Assign& node) {
  expr(unit, node.value);
  for (std::size_t i = 0; i < node.targets.size(); ++i) {
    if (i + 1 < node.targets.size()) unit.code.emit(Op::copy_, 1);
    store(unit, node.targets[i]);
  }
}

// Emits `target: annotation = value`. In a module or class, an annotation that is not evaluated lazily is evaluated at
// once. The value of the annotation is stored in `__annotations__` if the target is a simple name, and dropped if the
// target is anything else.
void annotated(Unit& unit, const AnnAssign& node) {
  if (node.value) {
    expr(unit, node.value);
    store(unit, node.target);
  }
  const bool function = unit.names.scope->unit()->is_function_like();
  if (unit.dialect.deferred_annotations && !unit.shared.annotations_are_text && node.simple && is<Name>(node.target)) {
    if (!function) mark_annotation(unit.code, unit.names, node);
    return;
  }
  if (auto* name_node = as<Name>(node.target)) {
    if (function) return;
    if (node.simple) {
      if (unit.shared.annotations_are_text) annotation_text(unit, node.annotation);
      else expr(unit, node.annotation);
      unit.code.named(Op::load_name_, "__annotations__");
      unit.code.load_string(unit.names.mangled(name_node->id));
      unit.code.emit(Op::store_subscr_);
      return;
    }
    // In `target: annotation` without a value, the parts of the target are evaluated and dropped.
  } else if (!node.value) {
    if (auto* attribute = as<Attribute>(node.target)) {
      expr(unit, attribute->value);
      unit.code.emit(Op::pop_top_);
    } else if (auto* subscripted = as<Subscript>(node.target)) {
      expr(unit, subscripted->value);
      unit.code.emit(Op::pop_top_);
      expr(unit, subscripted->slice);
      unit.code.emit(Op::pop_top_);
    }
  }
  if (!function && !unit.shared.annotations_are_text) {
    expr(unit, node.annotation);
    unit.code.emit(Op::pop_top_);
  }
}

// Emits `if` as: <test>; POP_JUMP_IF_FALSE otherwise; <body>; JUMP end; otherwise: <orelse>; end: ...
//
// Without an else clause, the jump behind the body would lead to the next instruction, so it is left out.
void if_stmt(Unit& unit, const If& node) {
  const Label otherwise = unit.code.label(), end = unit.code.label();
  condition(unit, node.test, otherwise, false);
  block(unit, node.body);
  if (!node.orelse.empty()) unit.code.jump(Op::jump_, end);
  unit.code.place(otherwise);
  block(unit, node.orelse);
  unit.code.place(end);
}

// Emits the body of a loop, and behind it the jump back to `again`. In the body, `continue` jumps to `again`, and
// `break` jumps to `end`.
template <class F>
void loop_body(Assembler& code, Frames& frames, Exit kind, Label again, Label end, F emit_body) {
  frames.push_back({.kind = kind, .end = end, .next = again, .outside = code.handler});
  emit_body();
  frames.pop_back();
  code.jump(Op::jump_, again);
}

// Emits `while` as: again: <test>; POP_JUMP_IF_FALSE otherwise; <body>; JUMP again; otherwise: <orelse>; end: ...
void while_stmt(Unit& unit, const While& node) {
  const Label again = unit.code.label(), otherwise = unit.code.label(), end = unit.code.label();
  unit.code.place(again);
  condition(unit, node.test, otherwise, false);
  loop_body(unit.code, unit.frames, Exit::while_loop, again, end, [&] { block(unit, node.body); });
  unit.code.place(otherwise);
  block(unit, node.orelse);
  unit.code.place(end);
}

// Emits `for` as: <iter>; GET_ITER; again: FOR_ITER otherwise; <store>; <body>; JUMP again; otherwise: <orelse>;
// end: ...
void for_stmt(Unit& unit, const For& node) {
  expr(unit, node.iter);
  unit.code.emit(Op::get_iter_);
  const Label again = unit.code.label(), otherwise = unit.code.label(), end = unit.code.label();
  unit.code.place(again);
  unit.code.jump(Op::for_iter_, otherwise);
  loop_body(unit.code, unit.frames, Exit::for_loop, again, end, [&] {
    store(unit, node.target);
    block(unit, node.body);
  });
  unit.code.place(otherwise);
  block(unit, node.orelse);
  unit.code.place(end);
}

// Emits `async for`. At the end of the loop, the asynchronous iterator raises StopAsyncIteration, which END_ASYNC_FOR
// handles.
void async_for(Unit& unit, const For& node) {
  expr(unit, node.iter);
  unit.code.emit(Op::get_aiter_);
  const Label again = unit.code.label(), otherwise = unit.code.label(), end = unit.code.label();
  unit.code.place(again);
  loop_body(unit.code, unit.frames, Exit::for_loop, again, end, [&] {
    const int outside = unit.code.handler;
    unit.code.handler = unit.code.protect(otherwise, unit.code.depth);
    unit.code.emit(Op::get_anext_);
    unit.code.load_none();
    send_loop(unit.code, unit.dialect, true);
    unit.code.handler = outside;
    store(unit, node.target);
    block(unit, node.body);
  });
  unit.code.place(otherwise);
  unit.code.emit(Op::end_async_for_);
  block(unit, node.orelse);
  unit.code.place(end);
}

// Emits a with statement of the first item, with the other items nested in its body. If the exit method returns a true
// value for an exception, the exception is suppressed. The instructions of the with statement are:
//
//   <manager>; BEFORE_WITH; <store>; <body>; <call of exit>; JUMP end;
//   handler: PUSH_EXC_INFO; WITH_EXCEPT_START; POP_JUMP_IF_TRUE suppressed; RERAISE 2;
//   suppressed: POP_TOP; POP_EXCEPT; POP_TOP; POP_TOP; end: ...
void with_stmt(Unit& unit, List<WithItem> items, Block body, bool async) {
  if (items.empty()) return block(unit, body);
  const WithItem& item = items[0];
  const Label handler = unit.code.label(), cleanup = unit.code.label(), suppressed = unit.code.label(),
              end = unit.code.label();
  expr(unit, item.context_expr);
  // From 3.14 on, LOAD_SPECIAL loads the enter and the exit method of the manager, and the exit method and its `self`
  // take one stack slot each.
  if (unit.dialect.exit_with_self) {
    constexpr std::int32_t enter = 0, exit = 1, async_enter = 2, async_exit = 3;
    unit.code.emit(Op::copy_, 1);
    unit.code.emit(Op::load_special_, async ? async_exit : exit);
    unit.code.emit(Op::swap_, 2);
    unit.code.emit(Op::swap_, 3);
    unit.code.emit(Op::load_special_, async ? async_enter : enter);
    unit.code.emit(Op::call_, 0, -1);
  } else {
    unit.code.emit(async ? Op::before_async_with_ : Op::before_with_);
  }
  if (async) {
    unit.code.emit(Op::get_awaitable_, unit.dialect.await_tells_reason ? 1 : 0);
    unit.code.load_none();
    send_loop(unit.code, unit.dialect, true);
  }
  const int outside = unit.code.handler;
  const int base = unit.code.depth - 1;  // the depth without the result of __enter__
  unit.code.handler = unit.code.protect(handler, base, true);
  unit.frames.push_back({.kind = async ? Exit::async_with_body : Exit::with_body, .outside = outside});
  if (item.optional_vars) store(unit, item.optional_vars);
  else unit.code.emit(Op::pop_top_);
  with_stmt(unit, items.subspan(1), body, async);
  unit.frames.pop_back();
  unit.code.handler = outside;
  call_exit(unit.code, unit.dialect, async);
  unit.code.jump(Op::jump_, end);

  unit.code.place(handler);
  unit.code.handler = unit.code.protect(cleanup, base + 2, true);
  unit.code.emit(Op::push_exc_info_);
  unit.code.emit(Op::with_except_start_, 0, unit.dialect.exit_with_self);
  if (async) {
    unit.code.emit(Op::get_awaitable_, unit.dialect.await_tells_reason ? 2 : 0);
    unit.code.load_none();
    send_loop(unit.code, unit.dialect, true);
  }
  unit.code.jump(Op::pop_jump_if_true_, suppressed);
  unit.code.emit(Op::reraise_, 2);
  unit.code.place(suppressed);
  unit.code.emit(Op::pop_top_);
  unit.code.handler = outside;
  unit.code.emit(Op::pop_except_);
  unit.code.emit(Op::pop_top_);
  unit.code.emit(Op::pop_top_);
  if (unit.dialect.exit_with_self) unit.code.emit(Op::pop_top_);
  unit.code.jump(Op::jump_, end);
  // The code at `cleanup` handles exceptions that the handler raises.
  unit.code.place(cleanup);
  unit.code.emit(Op::copy_, 3);
  unit.code.emit(Op::pop_except_);
  unit.code.emit(Op::reraise_, 1);
  unit.code.place(end);
}

}  // namespace

// Emits a whole module.
void module(Unit& unit, Block body) {
  deferred_annotations(unit);
  conditional_annotations(unit.code, unit.names);
  if (unit.names.scope->has_annotations && (!unit.dialect.deferred_annotations || unit.shared.annotations_are_text))
    unit.code.emit(Op::setup_annotations_);
  if (const Constant* text = take_docstring(body)) {
    unit.code.load(*text);
    unit.names.variable("__doc__", Access::store);
  }
  block(unit, body);
  unit.code.load_none();
  unit.code.emit(Op::return_value_);
}

// Emits the statements of a block.
void block(Unit& unit, Block body) {
  for (const Stmt* each : body) stmt(unit, each);
}

}  // namespace depyf::lowering
