// Decides whether a text is one expression of Python.
#pragma once

#include <string_view>

#include "dialect/dialect.h"

namespace depyf::validate {

// True if `text`, which is a single line, is an expression in the version of `dialect`. The result is false for
// strings in triple quotes and for strings with `\N{...}`, which `ast.unparse` does not write in annotations.
bool is_expression(std::string_view text, const Dialect& dialect);

}  // namespace depyf::validate
