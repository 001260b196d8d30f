// Defines a set of numbers up to a limit that is known in advance.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace depyf {

// Stores a bit for each number, so that the search for the next member skips up to 64 numbers at once, unlike a search
// in a table of flags.
class Marks {
 public:
  // Creates an empty set, to which the numbers from 0 to `count` - 1 can be added.
  explicit Marks(std::size_t count)
      : many_(count < few_.size() * bits ? 0 : count / bits + 1),
        words_(many_.empty() ? std::span<std::uint64_t>(few_) : std::span<std::uint64_t>(many_)) {}
  Marks(const Marks&) = delete;  // the `words_` of a copy could refer to the memory of the original
  Marks& operator=(const Marks&) = delete;

  void add(int number) { words_[word_of(number)] |= std::uint64_t{1} << bit_of(number); }
  // Adds each number from 0 to `count` - 1 for which `is_wanted` returns true. `count` must not be greater than the
  // `count` that the constructor received.
  template <class Predicate>
  void add_each(int count, Predicate is_wanted) {
    for (int first = 0; first < count; first += int(bits)) {
      const int end = std::min(count - first, int(bits));
      std::uint64_t word = 0;
      for (int bit = 0; bit < end; ++bit) word |= std::uint64_t{is_wanted(first + bit)} << bit;
      words_[word_of(first)] |= word;
    }
  }
  bool has(int number) const { return (words_[word_of(number)] >> bit_of(number) & 1) != 0; }
  std::size_t size() const {
    std::size_t count = 0;
    for (const std::uint64_t word : words_) count += std::size_t(std::popcount(word));
    return count;
  }
  // Returns the first member that is not less than `number`. A member that is not less than `number` must exist.
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

  // The bits of a small set are stored in the object itself, in `few_`, so that no memory is allocated for them. The
  // bits of a larger set are stored in `many_`.
  std::array<std::uint64_t, 8> few_{};
  std::vector<std::uint64_t> many_;
  const std::span<std::uint64_t> words_;
};

}  // namespace depyf
