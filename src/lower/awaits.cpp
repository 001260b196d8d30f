#include <algorithm>

#include "decode/op.h"
#include "lower/awaits.h"
#include "lower/expressions.h"

namespace depyf::lowering {
using namespace ast;

// The receiver is the iterator that `await` or `yield from` resumes; its result is left on the stack. Up to 3.10, the
// single operation YIELD_FROM resumes the receiver until it returns. From 3.11 on, the compiler emits a loop:
//
//   again: SEND end; YIELD_VALUE; RESUME; JUMP again; end: END_SEND.
//
// From 3.12 on, CLEANUP_THROW handles an exception that is thrown into the frame at the YIELD_VALUE, and END_SEND
// pops the receiver.
void send_loop(Assembler& code, const Dialect& dialect, bool await) {
  if (dialect.single_yield_from) {
    code.emit(Op::yield_from_);
    return;
  }
  const Label again = code.label(), end = code.label(), thrown = code.label();
  code.place(again);
  code.jump(Op::send_, end);
  const int outside = code.handler;
  if (dialect.cleanup_throw) code.handler = code.protect(thrown, code.depth);
  code.emit(Op::yield_value_, dialect.yield_tells_await ? 1 : 0);
  code.handler = outside;
  code.emit(Op::resume_, await ? 3 : 2);
  code.jump(Op::jump_, again);
  if (dialect.cleanup_throw) {
    code.place(thrown);
    code.emit(Op::cleanup_throw_);
    // CLEANUP_THROW leaves as many values on the stack as a SEND that jumps.
    code.depth = code.depth_at(end);
    code.jump(Op::jump_, end);
    code.place(end);
    code.emit(Op::end_send_);
  } else {
    code.place(end);
  }
}

void await_value(Assembler& code, const Dialect& dialect) {
  code.emit(Op::get_awaitable_, 0);
  code.load_none();
  send_loop(code, dialect, true);
}

void yield_from(Assembler& code, const Dialect& dialect) {
  code.emit(Op::get_yield_from_iter_);
  code.load_none();
  send_loop(code, dialect, false);
}

void yield_expr(Unit& unit, const Yield& node) {
  if (node.value) expr(unit, node.value);
  else unit.code.load_none();
  // Asynchronous generators wrap the values that they yield (3.11 and later).
  if (unit.dialect.wrapped_async_items && unit.is_async_generator()) unit.code.emit(Op::async_gen_wrap_);
  unit.code.emit(Op::yield_value_, 0);
  unit.code.emit(Op::resume_, 1);
}

}  // namespace depyf::lowering
