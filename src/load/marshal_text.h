// Texts and numbers of the marshal format in the form that Constant keeps them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace depyf {

// UTF-8 in which surrogates may stand alone (WTF-8).
bool is_wtf8(std::string_view text);

std::string latin1_to_utf8(std::string_view text);

// The integer of these digits of 15 bits, least significant first: decimal if it fits 64 bits, else hexadecimal.
std::string integer_text(const std::vector<std::uint16_t>& digits, bool negative);

// As float() reads it, without blanks and underscores.
std::optional<double> parse_float(std::string_view text);

}  // namespace depyf
