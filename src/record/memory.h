// Computes the sizes of tensors in bytes from the shapes that graphs and output code state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf::record {

// Returns the number of bytes of a dense tensor with a shape such as f32[8, 256][256, 1]cpu; nothing if a size is not
// a number or the type is unknown.
std::optional<std::int64_t> bytes_of(std::string_view shape);

// A value that the forward graph returns because the backward graph has it as an input.
struct SavedValue {
  // The node of the forward graph that computes the value. If the node is a placeholder, the saved value takes no
  // additional memory.
  const Node* node = nullptr;
  std::string shape;
};
// Returns the saved values in the order in which the backward graph takes them.
std::vector<SavedValue> saved_values(const Compilation& compilation);

}  // namespace depyf::record
