// Bounds the total memory of the texts and nested pickles that are read from one file. Without a bound, a small file
// could need much memory, because a pickle can refer to a single string any number of times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "artifact/code.h"

namespace depyf::artifact {

struct Budget {
  explicit Budget(std::size_t file_size)
      : text(bytes_per_byte * file_size + base), nested(bytes_per_byte * file_size + base) {}

  // Returns a copy of `from`, which is cut if all copied texts of the file together would exceed the bound.
  std::string copied(std::string_view from) {
    const std::size_t size = std::min(from.size(), text);
    text -= size;
    return std::string(from.substr(0, size));
  }

  // Subtracts `size`, the size of a pickle that is stored within another pickle of the file, from the bound on nested
  // pickles. Returns false if all nested pickles together would exceed the bound.
  bool take_nested(std::size_t size) {
    if (size > nested) return false;
    nested -= size;
    return true;
  }

  // The bound on texts and the bound on nested pickles are each `base` plus 8 times the size of the file. Files of
  // PyTorch stay below the bounds, because they contain each text once and the bytes of a nested pickle at most four
  // times.
  static constexpr std::size_t bytes_per_byte = 8, base = std::size_t{4} << 20;

  std::size_t text, nested;
  CodeBudget code;
};

}  // namespace depyf::artifact
