// Executes conditional jumps on symbols, and comparisons whose result the prover knows.
#pragma once

#include "prove/execution.h"

namespace depyf::operations {

// Executes a conditional jump. If the truth of the tested value is unknown, the step is a split: the prover follows
// both outcomes.
Step branch(Execution& run, const Instruction& it);
// Compares two integer constants with `==` or `!=`, as in the state machines that the decompiler prints (`if block ==
// 3:`). Returns Step::stuck for all operators except `==` and `!=`, and for operands that are no integer constants or
// are stored as hexadecimal text; the caller treats the comparison as an effect.
Step constant_test(Symbols& symbols, Frame& frame, const Instruction& it);

}  // namespace depyf::operations
