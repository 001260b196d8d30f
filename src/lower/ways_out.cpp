#include <algorithm>

#include "decode/op.h"
#include "lower/awaits.h"
#include "lower/expressions.h"
#include "lower/statements.h"
#include "lower/try_statements.h"
#include "lower/ways_out.h"

namespace depyf::lowering {
using namespace ast;

namespace {

// Emits the cleanup code that runs when control leaves the statement of `frame`. `value` is true if a value to return
// lies on top of the stack.
void unwind(Unit& unit, const Frame& frame, bool value) {
  switch (frame.kind) {
    case Exit::while_loop: return;
    // Leaving a for loop pops its iterator.
    case Exit::for_loop:
      if (value) unit.code.emit(Op::swap_, 2);
      unit.code.emit(Op::pop_top_);
      return;
    case Exit::try_body: unit.code.handler = frame.outside; return;
    // The code of the finally clause is emitted. While this code runs, the value to return lies below the values that
    // the code pushes.
    case Exit::finally_body: {
      unit.code.handler = frame.outside;
      if (value) unit.frames.push_back({.kind = Exit::value, .outside = frame.outside});
      block(unit, frame.body);
      if (value) unit.frames.pop_back();
      return;
    }
    // The exception that the finally clause handles is dropped.
    case Exit::finally_handler:
      if (value) unit.code.emit(Op::swap_, 2);
      unit.code.emit(Op::pop_top_);
      unit.code.handler = frame.outside;
      if (value) unit.code.emit(Op::swap_, 2);
      unit.code.emit(Op::pop_except_);
      return;
    // The exception is popped, and the name of the except clause is unbound.
    case Exit::handler:
      unit.code.handler = frame.outside;
      if (value) unit.code.emit(Op::swap_, 2);
      unit.code.emit(Op::pop_except_);
      if (!frame.name.empty()) {
        unbind_name(unit.code, unit.names, frame.name);
      }
      return;
    // The exit method is called without an exception.
    case Exit::with_body:
    case Exit::async_with_body:
      unit.code.handler = frame.outside;
      if (value) unit.code.emit(Op::rotate_, unit.dialect.exit_with_self ? 3 : 2);
      call_exit(unit.code, unit.dialect, frame.kind == Exit::async_with_body);
      return;
    // A jump or return out of a finally clause drops the value of the `return` that runs the clause.
    case Exit::value:
      if (value) unit.code.emit(Op::swap_, 2);
      unit.code.emit(Op::pop_top_);
      return;
  }
}

}  // namespace

// Calls the exit method on top of the stack (from 3.14 on, its self lies above it) with None three times.
void call_exit(Assembler& code, const Dialect& dialect, bool async) {
  for (int i = 0; i < 3; ++i) code.load_none();
  if (dialect.exit_with_self) code.emit(Op::call_, 3, -1);
  else code.emit(Op::call_function_, 3);
  if (async) {
    code.emit(Op::get_awaitable_, dialect.await_tells_reason ? 2 : 0);
    code.load_none();
    send_loop(code, dialect, true);
  }
  code.emit(Op::pop_top_);
}

// Emits the cleanup code of the enclosing statements up to the innermost loop, and the jump. A `continue` does not
// leave the loop, so the cleanup code of the loop itself is only emitted for a `break`.
void unwind_to_loop(Unit& unit, bool is_break) {
  const std::vector<Frame> frames = unit.frames;
  const int outside = unit.code.handler, depth = unit.code.depth;
  while (!unit.frames.empty()) {
    const Frame frame = unit.frames.back();
    if (frame.kind == Exit::while_loop || frame.kind == Exit::for_loop) {
      if (is_break) unwind(unit, frame, false);
      unit.code.jump(Op::jump_, is_break ? frame.end : frame.next);
      break;
    }
    unit.frames.pop_back();
    unwind(unit, frame, false);
  }
  if (unit.frames.empty()) fail("a break or continue outside a loop");
  // Control does not pass from the jump to the code behind it, so the frames, the handler and the depth are restored.
  unit.frames = frames;
  unit.code.handler = outside;
  unit.code.depth = depth;
}

// The value to return is evaluated before any statement is unwound.
void return_stmt(Unit& unit, const Return& node) {
  const std::vector<Frame> frames = unit.frames;
  const int outside = unit.code.handler, depth = unit.code.depth;
  if (node.value) expr(unit, node.value);
  else unit.code.load_none();
  while (!unit.frames.empty()) {
    const Frame frame = unit.frames.back();
    unit.frames.pop_back();
    unwind(unit, frame, true);
  }
  unit.code.emit(Op::return_value_);
  unit.frames = frames;
  unit.code.handler = outside;
  unit.code.depth = depth;
}

}  // namespace depyf::lowering
