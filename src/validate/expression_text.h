// Decides whether a text is one expression of Python.
#pragma once

#include <string_view>

namespace depyf::validate {

// True if `text`, on one line, is an expression as `ast.unparse` writes it. False for f-strings with fields and for
// strings in triple quotes, whose content is not parsed.
bool is_expression(std::string_view text);

}  // namespace depyf::validate
