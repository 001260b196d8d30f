// Lowers the expressions that suspend a frame: `await`, `yield` and `yield from`.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

// Emits `await` for the value on top of the stack.
void await_value(Assembler& code, const Dialect& dialect);
// Emits `yield from` for the iterable on top of the stack.
void yield_from(Assembler& code, const Dialect& dialect);
void yield_expr(Unit& unit, const ast::Yield& node);
// Emits the loop that sends values to the awaited object (the receiver) until the receiver returns. The first value to
// send is on top of the stack, and the receiver lies below it; the result of the receiver replaces the value and the
// receiver.
void send_loop(Assembler& code, const Dialect& dialect, bool await);

}  // namespace depyf::lowering
