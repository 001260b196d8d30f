// Defines operators and properties of conditional jumps, which bytecode operations and syntax tree nodes share.
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

// States whether the compiler replaced a conditional jump by its opposite so that an unconditional jump back can
// follow. In 3.13 and 3.14, a replaced jump is recognised because the exception range that covers the code in front of
// and behind the jump does not cover the jump itself. In 3.12 and 3.15, a conditional jump is known not to be replaced
// only if the jump back behind it has the source position of a `continue`. The value `elsewhere` means that the
// conditional jump leads to an unconditional jump back at another place of the code. The values `to_pass` and
// `to_continue` mean that the conditional jump leads to an unconditional jump back with the source position of a `pass`
// or `continue`.
enum class Turned : std::uint8_t { unknown, yes, no, elsewhere, to_pass, to_continue };

// The bits of the argument of the operation `behind_handlers`. The first three bits state what follows the operation: a
// `break` that is the whole else clause of a try statement, the start of an else clause, or the code behind an else
// clause. The bit `behind_call_of_continue` marks the CALL_FINALLY of a `continue`, and the bit `behind_return_start`
// marks the start of a `return` that leaves try or with statements. An operation with `behind_call_of_continue` or
// `behind_return_start` need not follow handlers.
inline constexpr int behind_else_break = 1, behind_else_start = 2, behind_else_end = 4, behind_call_of_continue = 8,
                     behind_return_start = 16;

}  // namespace depyf
