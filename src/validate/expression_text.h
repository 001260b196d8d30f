// Whether a text is one expression of Python.
#pragma once

#include <string_view>

namespace depyf::validate {

// True if `text`, on one line, is an expression as `ast.unparse` writes it. Lambdas with parameters that have defaults and
// f-strings are taken as they are; statements and unbalanced brackets are not.
bool is_expression(std::string_view text);

}  // namespace depyf::validate
