// Defines what each operation does to the symbolic frame of the prover.
#pragma once

#include "prove/execution.h"

namespace depyf::operations {

// Executes one instruction on the frame of `run`. The result states whether the step is silent, is an effect, splits
// the execution in two, or is not understood.
Step dispatch(Execution& run, const Instruction& it);

}  // namespace depyf::operations
