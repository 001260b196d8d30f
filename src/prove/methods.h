// Attributes, and methods whose object is known.
#pragma once

#include "prove/execution.h"

namespace depyf::operations {

Step load_attribute(Execution& run, const Instruction& it);
Step super_attribute(Execution& run, const Instruction& it);
// True if the cell is loaded for super() alone.
bool is_class_of_super(const Program& program, const Frame& frame, const Instruction& it);
// Stuck: it is called in a way that is not known here.
Step call_method(Execution& run, Symbol method, const Parts& arguments, int pops);

}  // namespace depyf::operations
