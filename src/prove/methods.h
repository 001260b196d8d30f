// Executes loads of attributes, and calls of methods whose object is known.
#pragma once

#include "prove/execution.h"

namespace depyf::operations {

Step load_attribute(Execution& run, const Instruction& it);
// Executes one half of LOAD_SUPER_ATTR: first the call of super(), and when LOAD_SUPER_ATTR is executed again, the load
// of the attribute.
Step super_attribute(Execution& run, const Instruction& it);
// Returns true if `it` loads the cell `__class__` only as an operand of LOAD_SUPER_ATTR.
bool is_class_of_super(const Program& program, const Frame& frame, const Instruction& it);
// Calls a known method. Returns Step::stuck if the prover has no rule for the method and its arguments; the caller then
// handles the call of the method as an ordinary call.
Step call_method(Execution& run, Symbol method, const Parts& arguments, int pops);

}  // namespace depyf::operations
