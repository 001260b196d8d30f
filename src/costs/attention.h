// Computes the memory that PyTorch's fused attention on a CPU allocates internally while it runs. Output code does not
// state the internal memory of attention, which can be more than all buffers of the code.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "costs/sizes.h"

namespace depyf::costs {

// True if the function of a library call is the fused attention of a CPU, or its backward.
bool is_attention(std::string_view function);

// Returns the bytes that a call of attention allocates beside its results; 0 if the layout of the query, of the key or,
// in a backward call, of the gradient is unknown. `arguments` has the layouts of the call's arguments in their order.
// `element_bytes` is the size of an element of the query, and `threads` is the number of threads that execute the call.
std::int64_t attention_bytes(std::string_view function, const std::vector<Layout>& arguments,
                             std::int64_t element_bytes, std::int64_t threads);

}  // namespace depyf::costs
