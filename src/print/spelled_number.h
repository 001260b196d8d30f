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

// Returns an expression of the value `digits` that has `width` columns: a power, a shift of 1, one less than either, or
// the digits in groups of three. `digits` is a decimal number, with a minus sign where it is negative.
SpelledNumber spelled_number(std::string_view digits, std::size_t width);

// Returns a sum, product or difference of the value `digits` that has `width` columns, if possible one with the number
// `near`, which may be empty: 12 as `8 + 4` near 8. If no operation has `width` columns, returns `12 + 0` for 12.
std::string spelled_sum(std::string_view digits, std::size_t width, std::string_view near);

}  // namespace depyf::print
