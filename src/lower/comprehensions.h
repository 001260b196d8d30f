// Lowers comprehensions, which are inlined or have a code object of their own.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

// Lowers the comprehension `node`. `whole` is the expression whose node is `node`; it is the key of the comprehension's
// scope in `Scope::children`.
void comprehension(Unit& unit, const ast::ComprehensionExpr& node, const ast::Expr* whole);

}  // namespace depyf::lowering
