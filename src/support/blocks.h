// Tests whether all bytes of a text pass a test, which examines a block of adjacent bytes at a time.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace depyf {

// Returns true if all bytes of `text` pass `test`. A call `test(bytes, count)` returns true if the `count` bytes from
// `bytes` on pass. `count` is a constant at compile time, so that the compiler can test all bytes of a block with a few
// instructions. A loop over single bytes would be slower, because the processor could not predict the ends of loops
// over short texts of various lengths. The blocks of a text may overlap, so that a byte may be tested twice.
template <class Test>
constexpr bool all_blocks_pass(std::string_view text, const Test& test) {
  const char *const begin = text.data(), *const end = begin + text.size();
  const auto first_and_last = [&](auto count) { return test(begin, count) & test(end - count, count); };
  constexpr std::integral_constant<std::size_t, 1> one;
  constexpr std::integral_constant<std::size_t, 4> four;
  constexpr std::integral_constant<std::size_t, 8> eight;
  constexpr std::integral_constant<std::size_t, 16> sixteen;
  constexpr std::integral_constant<std::size_t, 32> most;
  if (text.size() >= most) {
    for (const char* at = begin; at < end - most; at += most)
      if (!test(at, most)) return false;
    return test(end - most, most);
  }
  if (text.size() >= sixteen) return first_and_last(sixteen);
  if (text.size() >= eight) return first_and_last(eight);
  if (text.size() >= four) return first_and_last(four);
  // A text of one to three bytes has no bytes other than its first, its middle and its last byte.
  return text.empty() || (first_and_last(one) & test(begin + text.size() / 2, one));
}

}  // namespace depyf
