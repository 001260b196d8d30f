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
// instruction that formats `field`. A field of an f-string starts in front of its value, at the brace or at the quotes
// of the f-string. A field behind `%` starts at the start of its value.
bool is_percent_field(const CodeObject& code, const FormattedValue& field, const Position& field_position);

}  // namespace depyf::ast
