// Writes a library call of output code as an expression that needs no other line of the code, so that it can be run by
// itself to measure the memory that the library allocates for it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "costs/sizes.h"

namespace depyf::costs {

// The facts about a tensor that output code names or takes a view of.
struct TensorFacts {
  Layout layout;
  std::string dtype;  // torch.float32
};
using TensorOf = std::function<std::optional<TensorFacts>(std::string_view)>;

// True if a statement or a value of output code calls a function of a library.
bool is_library_call(std::string_view code);

// Returns the call with each tensor as `tensor((8, 4), (4, 1), torch.float32)` and each size as a number:
//
//     extern_kernels.mm(primals_1, buf0, out=buf1)
//     extern_kernels.mm(tensor((8, 4), (4, 1), torch.float32), tensor(...), out=tensor(...))
//
// Returns std::nullopt for a function outside of ATen and oneDNN, because a user's operator may do more than compute,
// and for a call with an argument that is neither a tensor nor a constant.
std::optional<std::string> expression_of(std::string_view call, const Symbols& symbols, const TensorOf& tensor_of);

}  // namespace depyf::costs
