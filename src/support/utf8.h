// Decodes characters of UTF-8 that may be lone surrogates, as in Python's strings (WTF-8).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace depyf {

// Sets `character` to the first character of `text`, which is not empty, and returns its length in bytes. Returns 0 if
// the bytes encode no character: if they are cut off, longer than necessary, or beyond U+10FFFF.
inline std::size_t first_character(std::string_view text, std::uint32_t& character) {
  const auto lead = static_cast<unsigned char>(text[0]);
  character = lead;
  if (lead < 0x80) return 1;
  const std::size_t size = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (size == 0 || text.size() < size) return 0;
  character = lead & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return 0;
    character = character << 6 | (next & 0x3fu);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  return character >= least[size] && character <= 0x10ffff ? size : 0;
}

// Returns the number of characters in a text of UTF-8: it counts all bytes except continuation bytes.
constexpr std::size_t characters_in(std::string_view text) {
  std::size_t continuations = 0;
  // The count of a block fits into a byte, so that the compiler counts 16 bytes with a few vector instructions.
  constexpr std::size_t block_max = 255;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(std::min(block_max, rest.size()))) {
    std::uint8_t in_block = 0;
    for (const char byte : rest.substr(0, block_max)) in_block += (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
    continuations += in_block;
  }
  return text.size() - continuations;
}

constexpr bool is_surrogate(std::uint32_t character) { return character >= 0xd800 && character < 0xe000; }

}  // namespace depyf
