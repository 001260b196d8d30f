// Decides whether a string is printed as a raw string, in which a backslash is an ordinary character.
#pragma once

#include <string_view>

namespace depyf::print {

// True if a raw literal between `quotes` (one or three quotes) can hold the text, and saves a backslash.
bool can_be_raw(std::string_view text, std::string_view quotes);

// True if the only backslash of the text is likely to belong to a regular expression, for which people write raw
// strings.
bool has_class_of_regex(std::string_view text);

}  // namespace depyf::print
