// The operators of expressions, and what is known of a conditional jump: what operations and the tree have in common.
#pragma once

#include <cstdint>

namespace depyf {

enum class BinaryOp : std::uint8_t {
  add,
  and_,
  floor_divide,
  lshift,
  matrix_multiply,
  multiply,
  remainder,
  or_,
  power,
  rshift,
  subtract,
  true_divide,
  xor_
};
enum class UnaryOp : std::uint8_t { positive, negative, not_, invert };
enum class CompareOp : std::uint8_t { lt, le, eq, ne, gt, ge, in, not_in, is, is_not };

// Whether the compiler turned a conditional jump around, so that a jump back may follow it: 3.13 and 3.14 leave such a jump out
// of the ranges around it. Elsewhere only the place of a `continue` tells, that it did not.
enum class Turned : std::uint8_t { unknown, yes, no };

}  // namespace depyf
