// Recognises formatting with `%`: the compilers of 3.11 and later turn `"%s: %5r" % (a, b)` into the bytecode of
// f"{a!s}: {b!r:>5}".
#pragma once

#include <optional>
#include <string>

#include "ast/node.h"
#include "depyf/constant.h"
#include "depyf/position.h"

namespace depyf::ast {

// Returns the format specifier that is compiled to `field`, such as `%5r`; std::nullopt if no specifier is compiled to
// `field`.
std::optional<std::string> percent_specifier(const FormattedValue& field);

// True if `field` was an item of the tuple behind `%` in the source; `field_position` is the position of the
// instruction that formats `field`. The position of a field of an f-string starts in front of the field's value, at the
// brace or at the quotes of the f-string. The position of an item behind `%` starts where the item's value starts.
bool is_percent_field(const CodeObject& code, const FormattedValue& field, const Position& field_position);

}  // namespace depyf::ast
