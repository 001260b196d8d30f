// Finds kernels and library calls in Inductor's output code.
#pragma once

#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf::trace {

// The text that replaces the first names in long lists of source nodes, in the comments of dumped output code.
inline constexpr std::string_view shortened_nodes = "...";

// Returns the kernels that the code defines and the library functions that it calls, in the order of their first
// appearance.
std::vector<record::Kernel> kernels_of(std::string_view output_code);

// Returns the calls of the code with the buffers that each call reads and writes. A kernel writes an argument if its
// definition declares a pointer that is not const, or a parameter named out_ptr. A library call writes its result,
// its argument `out=`, its first argument if the function works in place, and arguments that no earlier call has
// written.
record::OutputCode read_output_code(std::string_view output_code);

}  // namespace depyf::trace
