// Text from outside, as people may see it.
#pragma once

#include <string>
#include <string_view>

namespace depyf::texts {

// The text with control characters (line breaks too), marks of writing direction and bytes that are no UTF-8 as escapes,
// such as \x1b or \u202e, so that nothing in it acts on a terminal or a page.
std::string shown(std::string_view text);

// The same, cut after `characters_max` characters, with "..." at the cut.
std::string shown(std::string_view text, std::size_t characters_max);

// The text as one line of a file: as `shown`, but a line break is \n, and a tab stays.
std::string one_line(std::string_view text);

// "1 call", "2 calls".
std::string counted(std::size_t count, const std::string& noun, const char* plural = "s");

}  // namespace depyf::texts
