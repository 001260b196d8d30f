// Constants as text.
#pragma once

#include <string>
#include <string_view>

#include "depyf/constant.h"
#include "print/precedence.h"

namespace depyf::print {

// How strings are quoted: with double quotes unless single ones need fewer backslashes, as formatters do; inside the braces of an
// f-string with single quotes, and before 3.12 without a backslash where there is such a way.
enum class Quoting : std::uint8_t { usual, in_field, no_backslash };

// Without parentheses around it: `-1` and `1+2j` bind as loosely as level_of says.
// `version`: of the compiler that will read it; none: all of them.
void append_literal(std::string& out, const Constant& constant, Quoting quoting = Quoting::usual, Version version = {});
Level level_of(const Constant& constant);

// The characters of a string between quotes, escaped as repr does; `quote`, where not 0, is escaped too.
void append_escaped(std::string& out, std::string_view text, char quote);

// `text` between triple quotes with its line breaks as they are, each line after the first behind `indent` blanks.
void append_docstring(std::string& out, std::string_view text, std::size_t indent);

}  // namespace depyf::print
