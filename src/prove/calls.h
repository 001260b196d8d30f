// Calls, and functions as objects.
#pragma once

#include "prove/execution.h"

namespace depyf::operations {

Step call(Execution& run, const Instruction& it);
Step call_expanded(Execution& run, const Instruction& it);
Step make_function(Execution& run, const Instruction& it);
Step set_function_attribute(Execution& run, const Instruction& it);
// Adds the locals that are bound to what the effect looks at.
void add_locals(Symbols& symbols, const Program& program, const Frame& frame, Effect& effect);

}  // namespace depyf::operations
