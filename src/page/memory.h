// Sizes of tensors in bytes, from the shapes that graphs and output code state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf::page {

// The bytes of a dense tensor of a shape such as f32[8, 256][256, 1]cpu; nothing if a size is not a number or the type unknown.
std::optional<std::int64_t> bytes_of(std::string_view shape);

// A value that the forward graph returns for the backward graph alone.
struct SavedValue {
  std::string name, shape;
  record::Place place;
  bool is_input = false;  // the forward graph only passes it on: a parameter or an input, which takes no more memory
};
std::vector<SavedValue> saved_values(const record::Compilation& compilation);

}  // namespace depyf::page
