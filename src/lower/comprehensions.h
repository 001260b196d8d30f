// Lowers comprehensions, which are inlined or have a code object of their own.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

// Lowers the comprehension `node`. The symbol table stores the scope of the comprehension under `whole`, the expression
// that contains `node`.
void comprehension(Unit& unit, const ast::ComprehensionExpr& node, const ast::Expr* whole);

}  // namespace depyf::lowering
