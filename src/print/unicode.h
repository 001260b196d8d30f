// What of Unicode the text of Python needs: decoding, printable characters, identifiers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace depyf::print {

struct CodePoint {
  char32_t value = 0;
  std::size_t size = 1;  // in bytes
  bool valid = true;     // false: the byte does not start a character; value is the byte
};

// The character at `at`, in UTF-8 with lone surrogates as three bytes each.
CodePoint code_point(std::string_view text, std::size_t at);

bool is_printable(char32_t point);      // as str.isprintable
bool is_surrogate(char32_t point);

// A name that Python accepts as an identifier, and that is no keyword.
bool is_identifier(std::string_view name);

// `name` itself where it is an identifier; else one made of it, always the same: `.0` gives `_0`, `<lambda>` gives `_lambda_`.
std::string identifier(std::string_view name);

}  // namespace depyf::print
