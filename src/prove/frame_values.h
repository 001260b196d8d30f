// Executes the instructions on locals and cells.
#pragma once

#include "prove/execution.h"

namespace depyf::operations {

Step load_local(Execution& run, const Instruction& it);
Step load_cell(Execution& run, const Instruction& it);
Step store_cell(Execution& run, const Instruction& it);
Step delete_cell(Execution& run, const Instruction& it);
Step class_cell(Execution& run, const Instruction& it);

}  // namespace depyf::operations
