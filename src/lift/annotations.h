// Annotations that are evaluated later (3.14 and later); see annotations.cpp.
#pragma once

#include "lift/simulation.h"

namespace depyf::lifting {

// Gives `function` the annotations that its __annotate__ function `annotate` would return.
void annotate(Context& context, const Cursor& cursor, FunctionValue& function, const ast::Expr* annotate);
// Handles the store of the __annotate__ function of a module or class. Returns false if the store is anything else.
bool store_annotate(Simulation& sim, const ast::Expr* target, const ast::Expr* value);

}  // namespace depyf::lifting
