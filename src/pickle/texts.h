// Numbers and strings of pickles whose form in the input is not the one that a document keeps.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace depyf::pickle {

// Decodes a string of the opcode UNICODE: bytes of Latin-1 with \uXXXX and \UXXXXXXXX. None where an escape is cut or no character.
std::optional<std::string> decoded_unicode(std::string_view line);

// Decodes a string of the opcode STRING: a Python 2 literal with its quotes. None where it is no literal.
std::optional<std::string> decoded_string(std::string_view line);

// True if the text is an integer in decimal: digits behind at most one sign.
bool is_decimal(std::string_view text);

// The integer whose bytes these are in two's complement, the least significant first.
std::string integer_of_bytes(std::string_view bytes);

}  // namespace depyf::pickle
