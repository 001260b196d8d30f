// Executes the operations on tuples, lists, dicts, sets and slices, whether or not other code has seen them.
#pragma once

#include "prove/execution.h"

namespace depyf::operations {

// Builds a tuple or list.
Step build(Execution& run, const Instruction& it);
// Builds a dict. The items of the dict are tracked only if all its keys are plain constants without duplicates.
Step build_map(Execution& run, const Instruction& it);
Step build_slice(Execution& run, int count);
// The following functions change or read containers; they are silent on containers that only the frame has, and effects
// on all others.
Step append(Execution& run, const Instruction& it);
Step extend(Execution& run, const Instruction& it);
Step merge(Execution& run, const Instruction& it);
Step list_to_tuple(Execution& run);
Step subscript(Execution& run, const Instruction& it);
Step store_subscript(Execution& run, const Instruction& it);
Step delete_subscript(Execution& run, const Instruction& it);
Step unpack(Execution& run, const Instruction& it);

}  // namespace depyf::operations
