// Implements the parts of Unicode that Python source needs: decoding, printable characters and identifiers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace depyf::print {

// A decoded character, or a byte that starts no character.
struct CodePoint {
  char32_t value = 0;
  std::size_t size = 1;  // in bytes
  bool valid = true;     // false if the byte at the offset starts no character; `value` is the byte in this case
};

// Decodes the character at offset `at` from UTF-8. A lone surrogate is accepted as three bytes, as Python's marshal
// module writes it.
CodePoint code_point(std::string_view text, std::size_t at);

// Returns the result of Python's str.isprintable for the character.
bool is_printable(char32_t point);
// Returns true for the code points U+D800 to U+DFFF, which are no characters.
bool is_surrogate(char32_t point);

// Returns true if Python accepts `name` as an identifier and it is no keyword.
bool is_identifier(std::string_view name);

// Returns `name` if it is an identifier; otherwise an identifier derived from `name`: `_0` for `.0`, and `_lambda_` for
// `<lambda>`.
std::string identifier(std::string_view name);

}  // namespace depyf::print
