// Annotations that are evaluated later; see annotations.cpp.
#pragma once

#include "lift/simulation.h"

namespace depyf::lifting {

void annotate(Context& context, const Cursor& cursor, FunctionValue& function, const ast::Expr* annotate);
// False: the store is none of the function that makes annotations.
bool store_annotate(Simulation& sim, const ast::Expr* target, const ast::Expr* value);

}  // namespace depyf::lifting
