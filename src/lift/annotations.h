// Restores annotations that are evaluated lazily (3.14 and later); see annotations.cpp.
#pragma once

#include "lift/simulation.h"

namespace depyf::lifting {

// Sets the annotations of `function` to those that its __annotate__ function `annotate` returns.
void annotate(Context& context, const Cursor& cursor, FunctionValue& function, const ast::Expr* annotate);
// If `value` is the __annotate__ function of a module or class, emits an InternalStmt marker in place of the store, and
// returns true. Returns false for any other store.
bool store_annotate(Simulation& sim, const ast::Expr* target, const ast::Expr* value);

}  // namespace depyf::lifting
