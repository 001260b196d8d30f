// Tests whether a text consists of bytes that identifiers contain, eight bytes at a time. A loop over single bytes
// would be slower: the lengths of names vary, so that the processor could not predict the end of the loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace depyf {

// True if each of the eight bytes in `word` is a letter, a digit or `_`. If `accepts_beyond` is true, bytes beyond
// ASCII are accepted too.
template <bool accepts_beyond>
constexpr bool are_identifier_bytes(std::uint64_t word) {
  constexpr std::uint64_t each = 0x0101010101010101, high = each * 0x80;
  const std::uint64_t beyond_ascii = word & high, ascii = word & ~high;
  // Returns a word in which the high bit of each byte is set if the corresponding byte of `bytes` is at least `low` and
  // at most `last`. No addition carries into the next byte, because all bytes in `bytes` are below 0x80.
  constexpr auto between = [](std::uint64_t bytes, unsigned char low, unsigned char last) {
    return (bytes + each * (0x80u - low)) & ~(bytes + each * (0x7fu - last));
  };
  // Setting bit 0x20 turns a capital letter into a small letter, and turns no byte that is not a letter into a letter.
  const std::uint64_t letters = between(ascii | each * 0x20, 'a', 'z');
  const std::uint64_t in_ascii = (letters | between(ascii, '0', '9') | between(ascii, '_', '_')) & ~beyond_ascii;
  return ((in_ascii | (accepts_beyond ? beyond_ascii : 0)) & high) == high;
}

// True if all bytes of `text` are letters, digits or `_`. If `accepts_beyond` is true, bytes beyond ASCII are accepted
// too. If `text` has more than eight bytes, and the number is no multiple of eight, the last two words that are tested
// overlap.
template <bool accepts_beyond>
bool has_identifier_bytes(std::string_view text) {
  const auto read = [&]<class Word>(Word word, std::size_t at) {
    std::memcpy(&word, text.data() + at, sizeof word);
    return std::uint64_t{word};
  };
  const std::size_t size = text.size();
  if (size >= 8) {
    for (std::size_t at = 0; at + 8 < size; at += 8)
      if (!are_identifier_bytes<accepts_beyond>(read(std::uint64_t{}, at))) return false;
    return are_identifier_bytes<accepts_beyond>(read(std::uint64_t{}, size - 8));
  }
  if (size >= 4)
    return are_identifier_bytes<accepts_beyond>(read(std::uint32_t{}, 0) | read(std::uint32_t{}, size - 4) << 32);
  if (size == 0) return true;
  // A text of one to three bytes has no bytes other than its first, its middle and its last byte. The tested word
  // consists of the first, the middle and the last byte of the text, and of five underscores.
  constexpr std::uint64_t others = 0x5f5f5f5f5f000000;
  return are_identifier_bytes<accepts_beyond>(others | read(std::uint8_t{}, 0) | read(std::uint8_t{}, size / 2) << 8 |
                                              read(std::uint8_t{}, size - 1) << 16);
}

}  // namespace depyf
