// return, break and continue, and what statements do when they are left.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

void return_stmt(Unit& unit, const ast::Return& node);
void unwind_to_loop(Unit& unit, bool is_break);
// The exit of a context manager, without an exception.
void call_exit(Assembler& code, const Dialect& dialect, bool async);

}  // namespace depyf::lowering
