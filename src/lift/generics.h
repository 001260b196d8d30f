// Lifts type parameters and type aliases (3.12 and later); see generics.cpp.
#pragma once

#include "lift/simulation.h"
#include "support/table.h"

namespace depyf::lifting {

// True if `expr` is a function that evaluates type parameters.
bool is_generic(const Context& context, const ast::Expr* expr);
// True if the instructions from `at` on make a function that evaluates type parameters.
bool before_generic(const Cursor& cursor, int at);
// Simulates an instruction that creates or uses type parameters or type aliases, and returns false for any other
// instruction.
bool run_generics(Simulation& sim, const Instruction& instruction);
// Returns the definition that `function`, which evaluates type parameters, returns when it is called with `args`.
ast::Expr* evaluate_generic(Context& context, const Cursor& cursor, const FunctionValue& function,
                            ast::List<ast::Expr*> args);
// Returns the statement `type target = ...` for the element `index` of `context.type_aliases`. `target` is the name to
// which the code assigns the type alias.
ast::Stmt* type_alias(Context& context, const Cursor& cursor, int index, ast::Expr* target);

}  // namespace depyf::lifting
