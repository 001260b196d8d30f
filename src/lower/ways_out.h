// Lowers return, break and continue, with the cleanup code of the statements that they leave.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

void return_stmt(Unit& unit, const ast::Return& node);
// Emits break or continue.
void unwind_to_loop(Unit& unit, bool is_break);
// Calls the exit method of a context manager, without an exception.
void call_exit(Assembler& code, const Dialect& dialect, bool async);

}  // namespace depyf::lowering
