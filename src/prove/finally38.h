// Executes the finally clauses of 3.8, which are subroutines.
#pragma once

#include "prove/execution.h"

namespace depyf {

// Returns true if the symbol stands for an address on the stack to which the subroutine of a finally clause returns.
bool is_return_address(const SymbolInfo& info);

namespace operations {

Step finally38(Execution& run, const Instruction& it);

}  // namespace operations
}  // namespace depyf
