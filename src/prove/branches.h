// Executes jumps that depend on a value, and comparisons whose result is known.
#pragma once

#include "prove/execution.h"

namespace depyf::operations {

// Executes a conditional jump. If the truth of the value is unknown, the execution splits into both outcomes.
Step branch(Execution& run, const Instruction& it);
// Compares two integer constants with `==` or `!=`, as state machines do (`block == 3`). Returns Step::stuck for other
// operands or operators; the caller treats their comparison as an effect.
Step constant_test(Symbols& symbols, Frame& frame, const Instruction& it);

}  // namespace depyf::operations
