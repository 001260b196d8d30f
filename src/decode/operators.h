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

// States whether the compiler replaced a conditional jump by its opposite so that a jump back can follow it. In 3.13
// and 3.14, the exception ranges around a replaced jump exclude it, which shows the replacement. In 3.12 and 3.15, only
// a jump back with the source position of a `continue` shows that the conditional jump in front of it was not replaced.
// `elsewhere`: the conditional jump leads to a jump back that does not follow it. `to_pass` and `to_continue`: the
// conditional jump leads to a jump back elsewhere whose source position is that of a `pass` or `continue`.
enum class Turned : std::uint8_t { unknown, yes, no, elsewhere, to_pass, to_continue };

// The bits of the argument of the operation `behind_handlers`: the instruction behind it is a `break` that is the whole
// else clause of a try statement, or starts an else clause, or follows one. The bits `behind_call_of_continue` and
// `behind_return_start`, which need not follow handlers, mark CALL_FINALLY of a `continue`, and the start of a `return`
// that leaves try or with statements.
inline constexpr int behind_else_break = 1, behind_else_start = 2, behind_else_end = 4, behind_call_of_continue = 8,
                     behind_return_start = 16;

}  // namespace depyf
