// Guesses how the source wrote an integer that the compiler folded.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "print/precedence.h"

namespace depyf::print {

struct SpelledNumber {
  std::string text;  // empty if the source wrote the plain digits
  Level level = Level::atom;
};

// Returns an expression of the value `digits` that has `width` columns. The text of the result is empty if there is no
// such expression. The expression is a power, a shift of 1, one less than a power or shift, or the digits in groups of
// three. `digits` is a decimal number, with a minus sign where it is negative.
SpelledNumber spelled_number(std::string_view digits, std::size_t width);

// Returns a sum, product or difference that has the value `digits` and `width` columns. An operation with the number
// `near` is preferred: 12 becomes `8 + 4` if `near` is 8. An empty `near` has no effect. If no sum, product or
// difference has `width` columns, returns a sum with 0, such as `12 + 0`.
std::string spelled_sum(std::string_view digits, std::size_t width, std::string_view near);

}  // namespace depyf::print
