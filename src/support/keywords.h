// The words of Python that are no names.
#pragma once

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

// The first keyword that starts with each letter, in the list above; the last entry is its size.
inline constexpr auto keyword_starts = [] {
  std::array<std::uint8_t, 257> starts{};
  for (int letter = 256, at = std::size(python_keywords); letter >= 0; --letter) {
    while (letter < 256 && at > 0 && static_cast<unsigned char>(python_keywords[at - 1][0]) >= letter) --at;
    starts[letter] = static_cast<std::uint8_t>(at);
  }
  return starts;
}();

inline bool is_keyword(std::string_view name) {
  if (name.size() < 2 || name.size() > 8) return false;
  const auto letter = static_cast<unsigned char>(name[0]);
  for (int at = keyword_starts[letter]; at < keyword_starts[letter + 1]; ++at)
    if (python_keywords[at] == name) return true;
  return false;
}

}  // namespace depyf
