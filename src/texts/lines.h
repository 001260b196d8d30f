// Texts as the lines that Python's own library makes of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace depyf::texts {

// The lines of a text as Python's str.splitlines has them, which also ends a line at a form feed or at U+2028.
std::vector<std::string> python_lines(std::string_view text);

// A text as lines of at most `width` characters, as Python's textwrap.wrap breaks it: at white space and behind hyphens of words;
// a word that is longer is broken. Each line but the first begins with `indent`.
std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::string_view indent = {});

// The lines, each with this indent; an empty line stays empty.
std::vector<std::string> indented(const std::vector<std::string>& lines, std::string_view indent);

template <class Lines>
void append(const Lines& lines, std::vector<std::string>& to) {
  to.insert(to.end(), lines.begin(), lines.end());
}

}  // namespace depyf::texts
