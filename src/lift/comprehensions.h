// Turns bodies of comprehensions into expressions; see comprehensions.cpp.
#pragma once

#include "lift/simulation.h"

namespace depyf::lifting {

// Sets `result` to the comprehension over `iterable` that `function` implements. Returns false if the function is not
// that of a comprehension, or if the body of the function does not have the form of a comprehension.
bool comprehension(Context& context, const Cursor& cursor, ast::Expr*& result, const FunctionValue& function,
                   ast::Expr* iterable);
// Pushes the comprehension that `outline_comprehensions` moved out of the current code.
void inlined_comprehension(Simulation& sim, const Instruction& instruction);

}  // namespace depyf::lifting
