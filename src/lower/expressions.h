// Lowers expressions, to values on the stack or to conditional jumps.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

// From 3.10 on, CPython's compiler adds items to a display one by one if there are more than `most_on_the_stack`
// (STACK_USE_GUIDELINE).
constexpr std::size_t most_on_the_stack = 30;
// From 3.10 on, CPython's compiler adds pairs to a dict one by one if there are more than `most_pairs`, because a pair
// takes two places on the stack.
constexpr std::size_t most_pairs = 15;

// True if one of the items is starred.
bool has_star(ast::List<ast::Expr*> items);
// Pushes the value of an expression.
void expr(Unit& unit, const ast::Expr* expr);
inline void exprs(Unit& unit, ast::List<ast::Expr*> list) {
  for (const ast::Expr* each : list) expr(unit, each);
}
// Jumps to `target` if the truth of the test is `when`, and falls through otherwise.
void condition(Unit& unit, const ast::Expr* test, Label target, bool when);
// Builds a list or set by the operation `build`, or a tuple if `tuple` is true. `pushed` items, which precede `items`,
// are on the stack already.
void sequence(Unit& unit, ast::List<ast::Expr*> items, int pushed, Op build, bool tuple = false);
// For 3.8: builds a tuple or set from each run of items without a star, by the operation `gathering` (BUILD_TUPLE or
// BUILD_SET). Returns the number of values that are left on the stack: the tuples or sets, and the values of starred
// items.
int gathered_38(Unit& unit, ast::List<ast::Expr*> items, int pushed, Op gathering);
// True if the slice is compiled to BINARY_SLICE and STORE_SLICE (3.12 and later).
bool is_binary_slice(const Dialect& dialect, const ast::Expr* slice);
// Pushes the bounds of a slice, and its step if it has one.
void slice(Unit& unit, const ast::Slice& node);

}  // namespace depyf::lowering
