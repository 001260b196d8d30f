// Exceptions, their handlers, and the blocks of the block stack.
#pragma once

#include "prove/execution.h"

namespace depyf::operations {

// Takes the exception to its handler, or out of the frame; false if what happens then is not understood.
bool unwind(Symbols& symbols, const Program& program, Side& side, Symbol exception);
Step throw_now(Execution& run, Symbol exception);
Step reraise(Execution& run, const Instruction& it);
Step pop_except(Execution& run);
Step exception_match(Execution& run, const Instruction& it);
Step end_async_for(Execution& run);
Step cleanup_throw(Execution& run);
Step with_except_start(Execution& run);
Step blocks(Execution& run, const Instruction& it);

}  // namespace depyf::operations
