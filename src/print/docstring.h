// Writes texts between triple quotes, such as docstrings.
#pragma once

#include <cstddef>
#include <string_view>

#include "print/text.h"

namespace depyf::print {

// Appends what stands between triple double quotes for `text`. Its line breaks stay as they are, and each line after the first
// starts with `indent` blanks. With `is_raw` no character is escaped.
void append_lines(Text& out, std::string_view text, std::size_t indent, bool is_raw);

// Appends `text` between triple quotes, as `append_lines` writes it; raw if that saves a backslash.
void append_docstring(Text& out, std::string_view text, std::size_t indent);

}  // namespace depyf::print
