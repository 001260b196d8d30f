// Defines a set of numbers up to a limit that is known in advance.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace depyf {

// Stores a bit for each number, so that the search for the next member skips up to 64 numbers at once, unlike a search
// in a table of flags.
class Marks {
 public:
  // The numbers from 0 to `count` - 1 may be added.
  explicit Marks(std::size_t count) : words_(count / bits + 1) {}

  void add(int number) { words_[word_of(number)] |= std::uint64_t{1} << bit_of(number); }
  // Returns the first member that is not less than `number`. Such a member must exist.
  int next(int number) const {
    std::size_t word = word_of(number);
    std::uint64_t left = words_[word] & (~std::uint64_t{0} << bit_of(number));
    while (left == 0) left = words_[++word];
    return int(word * bits) + std::countr_zero(left);
  }

 private:
  static constexpr std::size_t bits = 64;
  static std::size_t word_of(int number) { return static_cast<std::size_t>(number) / bits; }
  static std::size_t bit_of(int number) { return static_cast<std::size_t>(number) % bits; }

  std::vector<std::uint64_t> words_;
};

}  // namespace depyf
