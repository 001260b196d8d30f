// Jumps on a value, and comparisons that are known.
#pragma once

#include "prove/execution.h"

namespace depyf::operations {

Step branch(Execution& run, const Instruction& it);
// Comparisons of constants, as state machines have them; stuck: the two are none, and the comparison is an effect.
Step constant_test(Symbols& symbols, Frame& frame, const Instruction& it);

}  // namespace depyf::operations
