// Tells whether a text is one expression of Python.
#pragma once

#include <string_view>

namespace depyf::validate {

// True if `text`, on one line, is an expression as `ast.unparse` writes it. Lambdas with default values and f-strings
// are accepted without a look inside; statements and unbalanced brackets are not accepted.
bool is_expression(std::string_view text);

}  // namespace depyf::validate
