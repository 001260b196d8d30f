// Kernels and library calls in Inductor's output code.
#pragma once

#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf::trace {

// Stands in a dump in place of the first names in a comment's list of source nodes.
inline constexpr std::string_view shortened_nodes = "...";

// The kernels that the code defines and the library calls that it makes, in the order of their first appearance.
std::vector<record::Kernel> kernels_of(std::string_view output_code);

// The calls of the code with the buffers that each of them reads and writes. Which arguments a kernel writes is known from
// its definition (a pointer that is not const, a parameter named out_ptr); of any other call it is the result, `out=`, and
// buffers that nothing has written before.
record::OutputCode read_output_code(std::string_view output_code);

}  // namespace depyf::trace
