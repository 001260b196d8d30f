// What is stored to, deleted, and changed in place.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

void store(Unit& unit, const ast::Expr* target);
void remove(Unit& unit, const ast::Expr* target);
void augmented(Unit& unit, const ast::AugAssign& node);

}  // namespace depyf::lowering
