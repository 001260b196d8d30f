// Kernels and library calls in Inductor's output code.
#pragma once

#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf::trace {

// The kernels that the code defines and the library calls that it makes, in the order of their first appearance.
std::vector<record::Kernel> kernels_of(std::string_view output_code);

}  // namespace depyf::trace
