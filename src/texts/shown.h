// In texts that come from logs and programs, escapes the characters that could act on a terminal or a page.
#pragma once

#include <string>
#include <string_view>

namespace depyf::texts {

// Returns the text with escapes such as \x1b or \u202e, so that no part of the text acts on a terminal or a page.
// Control characters (line breaks too), marks of writing direction, and bytes that are not UTF-8 are escaped.
std::string shown(std::string_view text);

// Returns the text escaped as by `shown(text)`, cut after `characters_max` characters, with "..." at the cut.
std::string shown(std::string_view text, std::size_t characters_max);

// Returns the text as one line of a file, escaped as by `shown`, except that a tab stays and a line break becomes \n.
std::string one_line(std::string_view text);

// Returns a count with its noun, such as "1 call" or "2 calls".
std::string counted(std::size_t count, const std::string& noun, const char* plural = "s");

}  // namespace depyf::texts
