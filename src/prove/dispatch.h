// What each operation does to a frame.
#pragma once

#include "prove/execution.h"

namespace depyf::operations {

Step dispatch(Execution& run, const Instruction& it);

}  // namespace depyf::operations
