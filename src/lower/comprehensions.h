// Comprehensions, in a code object of their own or in place.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

void comprehension(Unit& unit, const ast::ComprehensionExpr& node, const ast::Expr* whole);

}  // namespace depyf::lowering
