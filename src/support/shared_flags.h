// Defines a list of flags whose copies share their memory.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/shared_table.h"

namespace depyf {

// The first 64 flags are bits of a word, so that a short list allocates no memory.
class SharedFlags {
 public:
  std::size_t size() const { return size_; }
  bool operator[](std::integral auto number) const {
    const auto index = static_cast<std::size_t>(number);
    return index < word_size ? (word_ >> index & 1) != 0 : bool(rest_[index - word_size]);
  }
  bool operator==(const std::vector<bool>& other) const {
    if (other.size() != size_) return false;
    for (std::size_t index = 0; index < size_; ++index)
      if (other[index] != (*this)[index]) return false;
    return true;
  }

  void push_back(bool flag) {
    if (size_ < word_size) word_ |= std::uint64_t{flag} << size_;
    else rest_.push_back(flag);
    ++size_;
  }
  // Replaces the list by `count` flags that are false.
  void clear(std::size_t count) {
    word_ = 0, size_ = count;
    rest_ = {};
    if (count > word_size) rest_.assign(count - word_size, false);
  }

 private:
  static constexpr std::size_t word_size = 64;

  std::uint64_t word_ = 0;
  SharedTable<bool> rest_;  // the flags behind the first `word_size`
  std::size_t size_ = 0;
};

}  // namespace depyf
