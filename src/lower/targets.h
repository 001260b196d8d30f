// Lowers the targets of stores, deletions and augmented assignments.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

// Stores the value on top of the stack.
void store(Unit& unit, const ast::Expr* target);
// Deletes a target.
void remove(Unit& unit, const ast::Expr* target);
// Emits `target op= value`.
void augmented(Unit& unit, const ast::AugAssign& node);

}  // namespace depyf::lowering
