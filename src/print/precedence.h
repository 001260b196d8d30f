// Operators and how tightly they bind, as data.
#pragma once

#include <cstdint>
#include <string_view>

#include "ast/node.h"

namespace depyf::print {

// From loosest to tightest. Where an expression stands, the grammar names the loosest level that needs no parentheses.
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
  Level level;        // of the whole
  Level left, right;  // that the operands need
};

constexpr Operator left_associative(std::string_view text, Level level) { return {text, level, level, tighter(level)}; }

constexpr Operator binary_operators[] = {
    // in the order of BinaryOp
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
    // in the order of UnaryOp
    {"+", Level::factor, Level::factor, Level::factor},
    {"-", Level::factor, Level::factor, Level::factor},
    {"not ", Level::not_, Level::not_, Level::not_},
    {"~", Level::factor, Level::factor, Level::factor},
};

constexpr std::string_view compare_operators[] = {"<", "<=", "==", "!=", ">", ">=", "in", "not in", "is", "is not"};

constexpr const Operator& operator_of(BinaryOp op) { return binary_operators[static_cast<int>(op)]; }
constexpr const Operator& operator_of(UnaryOp op) { return unary_operators[static_cast<int>(op)]; }
constexpr std::string_view text_of(CompareOp op) { return compare_operators[static_cast<int>(op)]; }

// Of the text that print_expr gives the node.
Level level_of(const ast::Expr* expr);

}  // namespace depyf::print
