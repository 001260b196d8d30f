// Type parameters; see generics.cpp.
#pragma once

#include <vector>

#include "lift/simulation.h"

namespace depyf::lifting {

bool is_generic(const Context& context, const ast::Expr* expr);
bool before_generic(const Cursor& cursor, int at);
// False: the instruction has nothing to do with type parameters.
bool run_generics(Simulation& sim, const Instruction& instruction);
// The call of a function that evaluates type parameters.
ast::Expr* evaluate_generic(Context& context, const Cursor& cursor, const FunctionValue& function,
                            const std::vector<ast::Expr*>& args);
ast::Stmt* type_alias(Context& context, const Cursor& cursor, int index, ast::Expr* target);

}  // namespace depyf::lifting
