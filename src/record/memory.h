// Sizes of tensors in bytes, from the shapes that graphs and output code state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf::record {

// The bytes of a dense tensor of a shape such as f32[8, 256][256, 1]cpu; nothing if a size is not a number or the type unknown.
std::optional<std::int64_t> bytes_of(std::string_view shape);

// A value that the forward graph returns for the backward graph, which has it as an input.
struct SavedValue {
  const Node* node = nullptr;  // of the forward graph; a placeholder is only passed on, and takes no more memory
  std::string shape;
};
// In the order in which the backward graph takes them.
std::vector<SavedValue> saved_values(const Compilation& compilation);

}  // namespace depyf::record
