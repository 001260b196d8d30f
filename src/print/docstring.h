// Writes texts between triple quotes, such as docstrings.
#pragma once

#include <cstddef>
#include <string_view>

#include "print/text.h"

namespace depyf::print {

// Appends the characters of a literal for `text` that stand between the quotes `"""`. Line breaks of `text` stay as
// they are, and each line after the first starts with `indent` blanks. No character is escaped if `is_raw` is true.
// `joined` is the number of lines of the source that a backslash joined with the next line. Long lines are broken behind
// a blank until this number of line breaks is used up.
void append_lines(Text& out, std::string_view text, std::size_t indent, bool is_raw, std::size_t joined = 0);

// Appends `text` between triple quotes, as `append_lines` writes it. The literal is a raw string if that saves a
// backslash.
void append_docstring(Text& out, std::string_view text, std::size_t indent, std::size_t joined = 0);

}  // namespace depyf::print
