// Comprehensions, in a code object of their own or inlined.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

// `whole` is the expression that holds `node`; the symbol table knows the scope by it.
void comprehension(Unit& unit, const ast::ComprehensionExpr& node, const ast::Expr* whole);

}  // namespace depyf::lowering
