// Lowers import statements.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

void import_stmt(Unit& unit, const ast::Import& node);
void import_from(Unit& unit, const ast::ImportFrom& node);

}  // namespace depyf::lowering
