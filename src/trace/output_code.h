// Finds kernels and library calls in Inductor's output code.
#pragma once

#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf::trace {

// The text that, in a dump, replaces the first names in a comment's list of source nodes.
inline constexpr std::string_view shortened_nodes = "...";

// Returns the kernels that the code defines and the library calls that it makes, in the order of their first
// appearance.
std::vector<record::Kernel> kernels_of(std::string_view output_code);

// Returns the calls of the code with the buffers that each of them reads and writes. The definition of a kernel shows
// which arguments it writes: a pointer that is not const, or a parameter named out_ptr. A library call writes its
// result, its `out=`, its first argument if it works in place, and buffers that nothing has written before.
record::OutputCode read_output_code(std::string_view output_code);

}  // namespace depyf::trace
