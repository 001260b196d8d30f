// 3.8: finally clauses as subroutines.
#pragma once

#include "prove/execution.h"

namespace depyf {

// An address on the stack that a finally returns to.
bool is_return_address(const SymbolInfo& info);

namespace operations {

Step finally38(Execution& run, const Instruction& it);

}  // namespace operations
}  // namespace depyf
