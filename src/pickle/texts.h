// Decodes the numbers and strings of pickles whose form in a document differs from their form in the input.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace depyf::pickle {

// Decodes a string of the opcode UNICODE: bytes of Latin-1 with \uXXXX and \UXXXXXXXX. Returns nothing if an escape is
// incomplete or encodes no character.
std::optional<std::string> decoded_unicode(std::string_view line);

// Decodes a string of the opcode STRING, which is a Python 2 literal with its quotes. Returns nothing if `line` is no
// valid string literal of Python 2.
std::optional<std::string> decoded_string(std::string_view line);

// True if the text is a decimal integer: digits with at most one sign before them.
bool is_decimal(std::string_view text);

// Returns the text of the integer whose bytes are given in two's complement, the least significant byte first.
std::string integer_of_bytes(std::string_view bytes);

}  // namespace depyf::pickle
