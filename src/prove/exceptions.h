// Executes the instructions that raise or handle exceptions, and those of the block stack (up to 3.10).
#pragma once

#include "prove/execution.h"

namespace depyf::operations {

// Moves `side` to the handler of `exception`, or out of the frame if no handler catches it. Returns false if the stack
// is too short for the handler, or if the exception's class and traceback have no terms (up to 3.10).
bool unwind(Symbols& symbols, const Program& program, Side& side, Symbol exception);
// Raises `exception` at the current instruction.
Step throw_now(Execution& run, Symbol exception);
Step reraise(Execution& run, const Instruction& it);
Step pop_except(Execution& run);
Step exception_match(Execution& run, const Instruction& it);
Step end_async_for(Execution& run);
Step cleanup_throw(Execution& run);
Step with_except_start(Execution& run);
// Executes the instructions that push and pop entries of the block stack (up to 3.10).
Step blocks(Execution& run, const Instruction& it);

}  // namespace depyf::operations
