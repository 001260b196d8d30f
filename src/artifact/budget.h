// What the texts and pickles within one file may take together. A pickle may refer to one string any number of times.
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

  // Returns a copy of a text, cut where the file's texts take more than all may.
  std::string copied(std::string_view from) {
    const std::size_t size = std::min(from.size(), text);
    text -= size;
    return std::string(from.substr(0, size));
  }

  // Takes the bytes of a pickle within the file; false where these are more than all may be.
  bool take_nested(std::size_t size) {
    if (size > nested) return false;
    nested -= size;
    return true;
  }

  // Files as PyTorch writes them have each text once, and each pickle within pickles at most four times.
  static constexpr std::size_t bytes_per_byte = 8, base = std::size_t{4} << 20;

  std::size_t text, nested;
  CodeBudget code;
};

}  // namespace depyf::artifact
