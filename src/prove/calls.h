// Executes calls, and the instructions that make functions.
#pragma once

#include "prove/execution.h"

namespace depyf::operations {

// Executes the calls with positional and keyword arguments, of all versions.
Step call(Execution& run, const Instruction& it);
// Executes `f(*args, **kwargs)`.
Step call_expanded(Execution& run, const Instruction& it);
Step make_function(Execution& run, const Instruction& it);
Step set_function_attribute(Execution& run, const Instruction& it);
// Appends the names and values of all bound locals to the context of an effect that looks at locals, such as a call of
// `locals()`.
void add_locals(Symbols& symbols, const Program& program, Frame& frame, Effect& effect);

}  // namespace depyf::operations
