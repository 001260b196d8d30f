// Breaks texts into the same lines as Python's standard library breaks them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace depyf::texts {

constexpr std::string_view row_indent = "    ";  // the indentation of the rows below a heading

// Returns the lines of a text as Python's str.splitlines does, which ends a line also at a form feed or at U+2028.
std::vector<std::string> python_lines(std::string_view text);

// Returns a text as lines of at most `width` characters, broken as by Python's textwrap.wrap: at white space, behind
// hyphens, and within a word that is longer than a line. Each line except the first begins with `indent`.
std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::string_view indent = {});

// Returns the lines with `indent` in front of each. An empty line stays empty.
std::vector<std::string> indented(const std::vector<std::string>& lines, std::string_view indent);

template <class Lines>
void append(const Lines& lines, std::vector<std::string>& to) {
  to.insert(to.end(), lines.begin(), lines.end());
}

}  // namespace depyf::texts
