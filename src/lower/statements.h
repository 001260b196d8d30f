// Lowers statements.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

void module(Unit& unit, ast::Block body);
void block(Unit& unit, ast::Block body);

}  // namespace depyf::lowering
