// Tuples, lists, dicts, sets and slices: those that only their frame has seen, and others.
#pragma once

#include "prove/execution.h"

namespace depyf::operations {

Step build(Execution& run, const Instruction& it);
Step build_map(Execution& run, const Instruction& it);
Step build_slice(Execution& run, int count);
Step append(Execution& run, const Instruction& it);
Step extend(Execution& run, const Instruction& it);
Step merge(Execution& run, const Instruction& it);
Step list_to_tuple(Execution& run);
Step subscript(Execution& run, const Instruction& it);
Step store_subscript(Execution& run, const Instruction& it);
Step delete_subscript(Execution& run, const Instruction& it);
Step unpack(Execution& run, const Instruction& it);

}  // namespace depyf::operations
