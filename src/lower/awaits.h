// Expressions that suspend a frame.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

// Awaits the value on top of the stack.
void await_value(Assembler& code, const Dialect& dialect);
// Delegates to the iterable on top of the stack.
void yield_from(Assembler& code, const Dialect& dialect);
void yield_expr(Unit& unit, const ast::Yield& node);
// Runs the receiver below the top of the stack until it returns. The first value to send is on top; the result is left
// there.
void send_loop(Assembler& code, const Dialect& dialect, bool await);

}  // namespace depyf::lowering
