// Defines what each operation does to a frame.
#pragma once

#include "prove/execution.h"

namespace depyf::operations {

// Executes one instruction on the frame of `run`. The result says whether the step was silent, is an effect, splits the
// execution, or is not understood.
Step dispatch(Execution& run, const Instruction& it);

}  // namespace depyf::operations
