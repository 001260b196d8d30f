// Executes the operations on tuples, lists, dicts, sets and slices, whether or not code outside the frame has a
// reference to them.
#pragma once

#include "prove/execution.h"

namespace depyf::operations {

// Builds a tuple or list.
Step build(Execution& run, const Instruction& it);
// Builds a dict. The items of the dict are tracked only if its keys are at most `search_limits::compared_keys` constant
// strings, integers or None, without duplicates.
Step build_map(Execution& run, const Instruction& it);
Step build_slice(Execution& run, int count);
// The following functions execute instructions that read or change a container. An instruction on a container to which
// only the frame has a reference is no effect, unless the instruction may raise an exception or run other code.
Step append(Execution& run, const Instruction& it);
Step extend(Execution& run, const Instruction& it);
Step merge(Execution& run, const Instruction& it);
Step list_to_tuple(Execution& run);
Step subscript(Execution& run, const Instruction& it);
Step store_subscript(Execution& run, const Instruction& it);
Step delete_subscript(Execution& run, const Instruction& it);
Step unpack(Execution& run, const Instruction& it);

}  // namespace depyf::operations
