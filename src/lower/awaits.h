// What suspends a frame.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

void await_value(Assembler& code, const Dialect& dialect);
void yield_from(Assembler& code, const Dialect& dialect);
void yield_expr(Unit& unit, const ast::Yield& node);
// The receiver and what is sent first lie on the stack.
void send_loop(Assembler& code, const Dialect& dialect, bool await);

}  // namespace depyf::lowering
