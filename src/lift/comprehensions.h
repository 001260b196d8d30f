// Comprehensions; see comprehensions.cpp.
#pragma once

#include "lift/simulation.h"

namespace depyf::lifting {

// False: the code object is none of a comprehension.
bool comprehension(Context& context, const Cursor& cursor, ast::Expr*& result, const FunctionValue& function,
                   ast::Expr* iterable);
void inlined_comprehension(Simulation& sim, const Instruction& instruction);

}  // namespace depyf::lifting
