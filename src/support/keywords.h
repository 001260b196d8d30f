// Lists the keywords of Python, which cannot be names.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace depyf {

inline constexpr std::string_view python_keywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

// True for each byte that is an ASCII character which an identifier may contain.
inline constexpr auto ascii_identifier_parts = [] {
  std::array<bool, 256> parts{};
  for (std::size_t c = 0; c < 0x80; ++c)
    parts[c] = c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return parts;
}();

// True for each byte that an identifier may contain. All bytes beyond ASCII are included, because a name may have
// letters of other alphabets.
inline constexpr auto identifier_parts = [] {
  std::array<bool, 256> parts = ascii_identifier_parts;
  for (std::size_t c = 0x80; c < parts.size(); ++c) parts[c] = true;
  return parts;
}();
constexpr bool is_identifier_byte(char c) { return identifier_parts[static_cast<unsigned char>(c)]; }

// Maps each letter to the index of the first keyword in `python_keywords` that starts with the letter or, if no keyword
// does, with a later letter. The last entry is the number of keywords.
inline constexpr auto keyword_starts = [] {
  std::array<std::uint8_t, 257> starts{};
  for (int letter = 256, at = std::size(python_keywords); letter >= 0; --letter) {
    while (letter < 256 && at > 0 && static_cast<unsigned char>(python_keywords[at - 1][0]) >= letter) --at;
    starts[static_cast<std::size_t>(letter)] = static_cast<std::uint8_t>(at);
  }
  return starts;
}();

// Maps each letter to the lengths of the keywords that start with the letter, as a set of bits. Few names that are not
// keywords have the first letter and the length of a keyword.
inline constexpr auto keyword_lengths = [] {
  std::array<std::uint32_t, 256> lengths{};
  for (const std::string_view word : python_keywords)
    lengths[static_cast<unsigned char>(word[0])] |= std::uint32_t{1} << word.size();
  return lengths;
}();

inline constexpr std::size_t longest_keyword =
    std::ranges::max(python_keywords, {}, [](std::string_view word) { return word.size(); }).size();

constexpr bool is_keyword(std::string_view name) {
  if (name.empty() || name.size() > longest_keyword) return false;
  const auto letter = static_cast<unsigned char>(name[0]);
  if ((keyword_lengths[letter] >> name.size() & 1) == 0) return false;
  for (std::size_t at = keyword_starts[letter]; at < keyword_starts[letter + 1]; ++at)
    // Most words differ within their first letters, so std::mismatch takes less time than a call of memcmp.
    if (const std::string_view word = python_keywords[at];
        word.size() == name.size() && std::mismatch(word.begin(), word.end(), name.begin()).first == word.end())
      return true;
  return false;
}

}  // namespace depyf
