// `"%s: %5r" % (a, b)`, which the compilers of 3.11 and later turn into the code of f"{a!s}: {b!r:>5}".
#pragma once

#include <optional>
#include <string>

#include "ast/node.h"
#include "depyf/code_object.h"

namespace depyf::ast {

// Returns what stands for the field in the string before `%`; nothing if no such string makes this field.
std::optional<std::string> percent_specifier(const FormattedValue& field);

// Returns true if `field`, which an instruction at `field_position` formatted, stood in a tuple behind `%`. The field of an
// f-string starts at its brace or at its quotes, before its value; there it starts where the value does.
bool is_percent_field(const CodeObject& code, const FormattedValue& field, const Position& field_position);

}  // namespace depyf::ast
