// Turns bodies of comprehensions into expressions; see comprehensions.cpp.
#pragma once

#include "lift/simulation.h"

namespace depyf::lifting {

// Sets `result` to the comprehension over `iterable` that `function` makes. Returns false if the function belongs to no
// comprehension.
bool comprehension(Context& context, const Cursor& cursor, ast::Expr*& result, const FunctionValue& function,
                   ast::Expr* iterable);
// Pushes the comprehension that `outline_comprehensions` moved out of this code.
void inlined_comprehension(Simulation& sim, const Instruction& instruction);

}  // namespace depyf::lifting
