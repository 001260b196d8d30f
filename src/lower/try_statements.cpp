#include <algorithm>

#include "decode/op.h"
#include "lower/expressions.h"
#include "lower/statements.h"
#include "lower/try_statements.h"

namespace depyf::lowering {
using namespace ast;

namespace {

// Emits a try statement with except clauses: the body, the else clause, and the handler with a test for each clause.
// At the end of a clause `except E as e`, the name is unbound, also if the clause raises. The instructions of the
// handler are:
//
//   handlers: PUSH_EXC_INFO; <type>; CHECK_EXC_MATCH; POP_JUMP_IF_FALSE next; STORE e; <body>;
//             POP_EXCEPT; <unbind>; JUMP end;
//   unbind: <unbind>; RERAISE 1; next: ...; RERAISE 0; cleanup: COPY 3; POP_EXCEPT; RERAISE 1.
void try_except(Unit& unit, const Try& node) {
  const Label handlers = unit.code.label(), cleanup = unit.code.label(), end = unit.code.label();
  const int outside = unit.code.handler, base = unit.code.depth;
  unit.code.handler = unit.code.protect(handlers, base);
  unit.frames.push_back({.kind = Exit::try_body, .outside = outside});
  block(unit, node.body);
  unit.frames.pop_back();
  unit.code.handler = outside;
  block(unit, node.orelse);
  unit.code.jump(Op::jump_, end);

  unit.code.place(handlers);
  const int inside = unit.code.protect(cleanup, base + 1, true);
  unit.code.handler = inside;
  unit.code.emit(Op::push_exc_info_);
  for (const ExceptHandler& each : node.handlers) {
    const Label next = unit.code.label();
    unit.code.handler = inside;
    if (each.type) {
      expr(unit, each.type);
      unit.code.emit(Op::check_exc_match_);
      unit.code.jump(Op::pop_jump_if_false_, next);
    }
    if (each.name.empty()) {
      unit.code.emit(Op::pop_top_);
      unit.frames.push_back({.kind = Exit::handler, .outside = outside});
      block(unit, each.body);
      unit.frames.pop_back();
      unit.code.handler = outside;
      unit.code.emit(Op::pop_except_);
      unit.code.jump(Op::jump_, end);
    } else {
      unit.names.name(each.name, Access::store);
      const Label unbind = unit.code.label();
      unit.code.handler = unit.code.protect(unbind, unit.code.depth, true);
      unit.frames.push_back({.kind = Exit::handler, .outside = outside, .name = each.name});
      block(unit, each.body);
      unit.frames.pop_back();
      // In 3.8, the name `e` of a clause `except E as e` is unbound before POP_EXCEPT; in later versions, it is unbound
      // after POP_EXCEPT.
      if (!unit.dialect.finally_subroutines) {
        unit.code.handler = outside;
        unit.code.emit(Op::pop_except_);
        unbind_name(unit.code, unit.names, each.name);
      } else {
        unit.code.handler = inside;
        unbind_name(unit.code, unit.names, each.name);
        unit.code.handler = outside;
        unit.code.emit(Op::pop_except_);
      }
      unit.code.jump(Op::jump_, end);
      unit.code.place(unbind);
      unit.code.handler = inside;
      if (unit.dialect.exception_table) {
        unbind_name(unit.code, unit.names, each.name);
        unit.code.emit(Op::reraise_, 1);
      } else {  // up to 3.10, the new exception is handled while the name is unbound
        const Label again = unit.code.label();
        unit.code.handler = unit.code.protect(again, unit.code.depth, true);
        unit.code.emit(Op::push_exc_info_);
        unbind_name(unit.code, unit.names, each.name);
        unit.code.emit(Op::reraise_, 0);
        unit.code.handler = inside;
        unit.code.place(again);
        unit.code.emit(Op::copy_, 3);
        unit.code.emit(Op::pop_except_);
        unit.code.emit(Op::reraise_, 1);
      }
    }
    unit.code.place(next);
    unit.code.depth = base + 2;
  }
  unit.code.handler = inside;
  // If no clause has matched, the exception is raised again.
  unit.code.emit(Op::reraise_, 0);
  unit.code.handler = outside;
  unit.code.place(cleanup);
  unit.code.emit(Op::copy_, 3);
  unit.code.emit(Op::pop_except_);
  unit.code.emit(Op::reraise_, 1);
  unit.code.place(end);
}

// Emits a try statement with `except*` clauses (see flow/except_star.cpp for its instructions). Each clause gets the
// part of the exception group that it matches, and a list collects the exceptions that the clauses raise.
void try_star(Unit& unit, const Try& node) {
  const Label handlers = unit.code.label(), cleanup = unit.code.label(), end = unit.code.label(),
              raise = unit.code.label();
  const int outside = unit.code.handler, base = unit.code.depth;
  unit.code.handler = unit.code.protect(handlers, base);
  unit.frames.push_back({.kind = Exit::try_body, .outside = outside});
  block(unit, node.body);
  unit.frames.pop_back();
  unit.code.handler = outside;
  block(unit, node.orelse);
  unit.code.jump(Op::jump_, end);

  unit.code.place(handlers);
  const int inside = unit.code.protect(cleanup, base + 1, true);
  unit.code.handler = inside;
  unit.code.emit(Op::push_exc_info_);
  bool first = true;
  for (const ExceptHandler& each : node.handlers) {
    const Label next = unit.code.label(), unmatched = unit.code.label(), raised = unit.code.label();
    unit.code.handler = inside;
    // For the first clause, the stack becomes: original exception, list of raised exceptions, unmatched part of the
    // group.
    if (first) {
      unit.code.emit(Op::copy_, 1);
      unit.code.emit(Op::build_list_, 0);
      unit.code.emit(Op::swap_, 2);
    }
    first = false;
    if (!each.type) fail("except* without a type");
    expr(unit, each.type);
    unit.code.emit(Op::check_eg_match_);
    unit.code.emit(Op::copy_, 1);
    unit.code.jump(Op::pop_jump_if_none_, unmatched);
    if (each.name.empty()) unit.code.emit(Op::pop_top_);
    else unit.names.name(each.name, Access::store);
    unit.code.handler = unit.code.protect(raised, unit.code.depth, true);
    unit.frames.push_back({.kind = Exit::handler, .outside = outside, .name = each.name});
    block(unit, each.body);
    unit.frames.pop_back();
    unit.code.handler = inside;
    if (!each.name.empty()) {
      unbind_name(unit.code, unit.names, each.name);
    }
    unit.code.jump(Op::jump_, next);
    unit.code.place(raised);
    if (!each.name.empty()) {
      unbind_name(unit.code, unit.names, each.name);
    }
    // An exception that the clause raises is appended to the list of raised exceptions.
    unit.code.emit(Op::list_append_, 3);
    unit.code.emit(Op::pop_top_);
    unit.code.jump(Op::jump_, next);
    unit.code.place(unmatched);
    unit.code.emit(Op::pop_top_);
    unit.code.place(next);
    unit.code.depth = base + 4;
  }
  unit.code.handler = inside;
  // The part of the group that no clause has matched is appended to the list of raised exceptions as well.
  unit.code.emit(Op::list_append_, 1);
  unit.code.emit(Op::intrinsic_2_, static_cast<std::int32_t>(Intrinsic2::prep_reraise_star));
  unit.code.emit(Op::copy_, 1);
  unit.code.jump(Op::pop_jump_if_not_none_, raise);
  unit.code.emit(Op::pop_top_);
  unit.code.handler = outside;
  unit.code.emit(Op::pop_except_);
  unit.code.jump(Op::jump_, end);
  unit.code.place(raise);
  unit.code.handler = inside;
  unit.code.emit(Op::swap_, 2);
  unit.code.handler = outside;
  unit.code.emit(Op::pop_except_);
  unit.code.emit(Op::reraise_, 0);
  unit.code.place(cleanup);
  unit.code.emit(Op::copy_, 3);
  unit.code.emit(Op::pop_except_);
  unit.code.emit(Op::reraise_, 1);
  unit.code.place(end);
}

}  // namespace

void unbind_name(Assembler& code, Variables& names, std::string_view id) {
  code.load_none();
  names.name(id, Access::store);
  names.name(id, Access::remove);
}

// Emits a try statement. The finally clause is emitted twice: for the path without an exception, and in the handler,
// which raises the exception again.
void try_stmt(Unit& unit, const Try& node) {
  if (node.finalbody.empty() && !node.handlers.empty())
    return node.is_star ? try_star(unit, node) : try_except(unit, node);
  // If a try statement has neither except nor finally clauses, its else clause is lowered as a finally clause,
  // because the printer writes it as a finally clause.
  const bool lone = node.finalbody.empty();
  const Block finally = lone ? node.orelse : node.finalbody;
  const Label handler = unit.code.label(), cleanup = unit.code.label(), end = unit.code.label();
  const int outside = unit.code.handler, base = unit.code.depth;
  unit.code.handler = unit.code.protect(handler, base);
  unit.frames.push_back({.kind = Exit::finally_body, .outside = outside, .body = finally});
  if (node.handlers.empty()) {
    block(unit, node.body);
    if (!lone) block(unit, node.orelse);
  } else {
    node.is_star ? try_star(unit, node) : try_except(unit, node);
  }
  unit.frames.pop_back();
  unit.code.handler = outside;
  block(unit, finally);
  unit.code.jump(Op::jump_, end);

  unit.code.place(handler);
  unit.code.handler = unit.code.protect(cleanup, base + 1, true);
  unit.code.emit(Op::push_exc_info_);
  unit.frames.push_back({.kind = Exit::finally_handler, .outside = outside});
  block(unit, finally);
  unit.frames.pop_back();
  unit.code.emit(Op::reraise_, 0);
  unit.code.handler = outside;
  unit.code.place(cleanup);
  unit.code.emit(Op::copy_, 3);
  unit.code.emit(Op::pop_except_);
  unit.code.emit(Op::reraise_, 1);
  unit.code.place(end);
}

}  // namespace depyf::lowering
