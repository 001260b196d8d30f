// Turns texts and numbers of the marshal format into the form in which Constant stores them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace depyf {

bool is_ascii(std::string_view text);

// True if the text is UTF-8 in which surrogates may stand alone (WTF-8).
bool is_wtf8(std::string_view text);

std::string latin1_to_utf8(std::string_view text);

// Returns the text of the integer with the digits `digits` of 15 bits, the least significant first. An integer of more
// than 3200 hexadecimal digits is written as hexadecimal, and any other as decimal.
std::string integer_text(const std::vector<std::uint16_t>& digits, bool negative);

// Parses a number as Python's float() does, without blanks and underscores; returns nothing if the text is malformed.
std::optional<double> parse_float(std::string_view text);

}  // namespace depyf
