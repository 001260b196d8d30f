// The operators of expressions and facts about conditional jumps, which operations and the tree share.
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

// States whether the compiler replaced a conditional jump by its opposite so that a jump back can follow it. 3.13 and
// 3.14 exclude such a jump from the exception ranges around it, which shows it. Otherwise only the position of a
// `continue` shows that a jump was not replaced. `elsewhere`: it leads to a jump back that does not follow it; `to_pass`
// and `to_continue`: to one whose position is that of such a statement.
enum class Turned : std::uint8_t { unknown, yes, no, elsewhere, to_pass, to_continue };

// The bits of the argument of `behind_handlers`: the instruction behind it is a `break` that is an else clause, or starts an
// else clause, or follows one. The last two need not follow handlers: CALL_FINALLY of a `continue`, and the start of a
// `return` that leaves statements.
inline constexpr int behind_else_break = 1, behind_else_start = 2, behind_else_end = 4, behind_call_of_continue = 8,
                     behind_return_start = 16;

}  // namespace depyf
