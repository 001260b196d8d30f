// Writes a library call of output code as an expression that needs no other line of the code. The expression can be
// run by itself, which measures the memory that the library allocates for the call.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "costs/sizes.h"

namespace depyf::costs {

// The layout and the element type of a tensor in output code.
struct TensorFacts {
  Layout layout;
  std::string dtype;  // the element type, such as torch.float32
};
using TensorOf = std::function<std::optional<TensorFacts>(std::string_view)>;

// True if a statement or a value of output code calls a function of a library.
bool is_library_call(std::string_view code);

// Returns the call with each tensor written as `tensor((8, 4), (4, 1), torch.float32)`, and each size written as a
// number. Returns std::nullopt for a function outside of ATen and oneDNN, because a user's operator may have side
// effects. Also returns std::nullopt if an argument of the call is neither a tensor nor a constant. For example, the
// call `extern_kernels.mm(primals_1, buf0, out=buf1)` in output code becomes `extern_kernels.mm(tensor((8, 4), (4, 1),
// torch.float32), tensor(...), out=tensor(...))`.
std::optional<std::string> expression_of(std::string_view call, const Symbols& symbols, const TensorOf& tensor_of);

}  // namespace depyf::costs
