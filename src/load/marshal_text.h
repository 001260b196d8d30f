// Turns texts and numbers of the marshal format into the form in which Constant stores them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace depyf {

bool is_ascii(std::string_view text);
// Returns the same result as `is_ascii` without the parameter `readable`, but in less time for most texts. The caller
// states that `readable` bytes from the start of the text on may be read. If bytes behind a short text may be read, the
// text is checked without a branch on its length.
bool is_ascii(std::string_view text, std::size_t readable);

// True if the text is UTF-8 in which single surrogates are allowed (WTF-8).
bool is_wtf8(std::string_view text);

std::string latin1_to_utf8(std::string_view text);

// Returns the text of the integer with the digits `digits` of 15 bits, the least significant first. An integer of more
// than 3200 hexadecimal digits is written as hexadecimal, and any other as decimal.
std::string integer_text(const std::vector<std::uint16_t>& digits, bool negative);

// Parses a number as Python's float() does, without blanks and underscores; returns nothing if the text is malformed.
std::optional<double> parse_float(std::string_view text);

}  // namespace depyf
