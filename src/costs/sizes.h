// Evaluates the sizes that output code states, which are numbers, names of sizes that vary, and arithmetic
// expressions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace depyf::costs {

using Symbols = std::map<std::string, std::int64_t, std::less<>>;

// The sizes and strides of a tensor, with one element for each dimension. `sizes` and `strides` are empty if they are
// unknown.
struct Layout {
  std::vector<std::int64_t> sizes, strides;
};

// Returns the value of an expression such as `8*s77*(1 + s3)`; std::nullopt if the expression has an unknown name or
// an unknown operation.
std::optional<std::int64_t> size_of(std::string_view expression, const Symbols& symbols);

// Returns the bytes from the first element of a tensor to its last; std::nullopt if a size is unknown.
std::optional<std::int64_t> strided_bytes(std::string_view sizes, std::string_view strides, std::int64_t element_bytes,
                                          const Symbols& symbols);

// Returns the bytes of an element of a dtype such as torch.float32; 0 if the dtype is unknown.
std::int64_t element_bytes_of(std::string_view dtype);

}  // namespace depyf::costs
