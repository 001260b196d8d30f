// Expressions, and conditions that jump.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

// CPython's compilers build larger displays and calls item by item (STACK_USE_GUIDELINE), from 3.10 on.
constexpr std::size_t most_on_the_stack = 30;
constexpr std::size_t most_pairs = 15;

bool has_star(ast::List<ast::Expr*> items);
void expr(Unit& unit, const ast::Expr* expr);
inline void exprs(Unit& unit, ast::List<ast::Expr*> list) {
  for (const ast::Expr* each : list) expr(unit, each);
}
// Jumps to `target` if the test gives `when`.
void condition(Unit& unit, const ast::Expr* test, Label target, bool when);
void sequence(Unit& unit, ast::List<ast::Expr*> items, int pushed, Op build, bool tuple = false);
int gathered_38(Unit& unit, ast::List<ast::Expr*> items, int pushed);
bool is_binary_slice(const Dialect& dialect, const ast::Expr* slice);
void slice(Unit& unit, const ast::Slice& node);

}  // namespace depyf::lowering
