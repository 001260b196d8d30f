// Lists the operators and how tightly they bind, as data.
#pragma once

#include <cstdint>
#include <string_view>

#include "ast/node.h"

namespace depyf::print {

// The levels of precedence of expressions, from the loosest to the tightest. For each place of an expression, the
// grammar determines the loosest level that needs no parentheses at that place.
enum class Level : std::uint8_t {
  named,
  yield,
  tuple,
  test,
  or_,
  and_,
  not_,
  compare,
  bit_or,
  bit_xor,
  bit_and,
  shift,
  arithmetic,
  term,
  factor,
  power,
  await,
  atom
};

constexpr Level tighter(Level level) { return static_cast<Level>(static_cast<int>(level) + 1); }

struct Operator {
  std::string_view text;
  Level level;        // the level of the whole expression
  Level left, right;  // the loosest levels that the operands may have without parentheses
};

// `a - b - c` means `(a - b) - c`, so the right operand must bind tighter than the left operand.
constexpr Operator left_associative(std::string_view text, Level level) { return {text, level, level, tighter(level)}; }

// The power operator is right-associative: its left operand must bind at least as tightly as `await`, and its right
// operand may start with a sign, as in `2 ** -1`.
constexpr Operator binary_operators[] = {
    // The order of the rows is the order of the enum BinaryOp.
    left_associative("+", Level::arithmetic),
    left_associative("&", Level::bit_and),
    left_associative("//", Level::term),
    left_associative("<<", Level::shift),
    left_associative("@", Level::term),
    left_associative("*", Level::term),
    left_associative("%", Level::term),
    left_associative("|", Level::bit_or),
    {"**", Level::power, Level::await, Level::factor},
    left_associative(">>", Level::shift),
    left_associative("-", Level::arithmetic),
    left_associative("/", Level::term),
    left_associative("^", Level::bit_xor),
};

constexpr Operator unary_operators[] = {
    // The order of the rows is the order of the enum UnaryOp.
    {"+", Level::factor, Level::factor, Level::factor},
    {"-", Level::factor, Level::factor, Level::factor},
    {"not ", Level::not_, Level::not_, Level::not_},
    {"~", Level::factor, Level::factor, Level::factor},
};

constexpr std::string_view compare_operators[] = {"<", "<=", "==", "!=", ">", ">=", "in", "not in", "is", "is not"};

constexpr const Operator& operator_of(BinaryOp op) { return binary_operators[static_cast<int>(op)]; }
constexpr const Operator& operator_of(UnaryOp op) { return unary_operators[static_cast<int>(op)]; }
constexpr std::string_view text_of(CompareOp op) { return compare_operators[static_cast<int>(op)]; }

// Returns the level of the outermost operator in the text that print_expr writes for `expr`.
Level level_of(const ast::Expr* expr);

}  // namespace depyf::print
