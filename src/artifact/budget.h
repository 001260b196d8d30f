// Bounds the memory that the texts and pickles of one file take together. A pickle can refer to one string any number
// of times.
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

  // Returns a copy of a text. The text is cut where all texts of the file would take more than the bound.
  std::string copied(std::string_view from) {
    const std::size_t size = std::min(from.size(), text);
    text -= size;
    return std::string(from.substr(0, size));
  }

  // Reserves the bytes of a pickle within the file. Returns false if they would exceed the bound.
  bool take_nested(std::size_t size) {
    if (size > nested) return false;
    nested -= size;
    return true;
  }

  // PyTorch writes each text of a file once, and copies the bytes of a pickle at most four times into outer pickles.
  static constexpr std::size_t bytes_per_byte = 8, base = std::size_t{4} << 20;

  std::size_t text, nested;
  CodeBudget code;
};

}  // namespace depyf::artifact
