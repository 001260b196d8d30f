// Recognises formatting with `%`: the compilers of 3.11 and later turn `"%s: %5r" % (a, b)` into the bytecode of
// f"{a!s}: {b!r:>5}".
#pragma once

#include <optional>
#include <string>

#include "ast/node.h"
#include "depyf/constant.h"
#include "depyf/position.h"

namespace depyf::ast {

// Returns the specifier of the field, such as `%5r`, in the format string in front of `%`; nothing if no specifier is
// compiled to `field`.
std::optional<std::string> percent_specifier(const FormattedValue& field);

// True if `field`, which an instruction at `field_position` formatted, stood in a tuple behind `%`. The field of an
// f-string starts at its brace or at the quotes, in front of its value; a field behind `%` starts where its value does.
bool is_percent_field(const CodeObject& code, const FormattedValue& field, const Position& field_position);

}  // namespace depyf::ast
