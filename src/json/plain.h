// Finds the characters that JSON escapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace depyf::json {

// True for a character that stands for itself in a JSON string of pure ASCII.
constexpr bool is_plain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

// True if `is_plain` is true for the eight characters of a word. If a byte of the word is no plain character, at least
// one of the five terms that the last line combines has the highest bit of this byte set.
constexpr bool are_plain(std::uint64_t word) {
  constexpr std::uint64_t each_byte = 0x0101010101010101, highest_bits = 0x80 * each_byte;
  const auto contains = [&](char c) {
    const std::uint64_t zero_if_equal = word ^ (each_byte * static_cast<unsigned char>(c));
    return (zero_if_equal - each_byte) & ~zero_if_equal;
  };
  const std::uint64_t below_blank = word - each_byte * ' ', above_tilde = word + each_byte * (0x7f - '~');
  return ((word | below_blank | above_tilde | contains('"') | contains('\\')) & highest_bits) == 0;
}

// Returns the length of the start of the text in which all characters stand for themselves.
inline std::size_t plain_size(std::string_view text) {
  std::size_t size = 0;
  for (std::uint64_t word; size + sizeof word <= text.size(); size += sizeof word) {
    std::memcpy(&word, text.data() + size, sizeof word);
    if (!are_plain(word)) break;
  }
  while (size < text.size() && is_plain(text[size])) ++size;
  return size;
}

}  // namespace depyf::json
