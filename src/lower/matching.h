// Lowers match statements.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

void match_stmt(Unit& unit, const ast::Match& node);

}  // namespace depyf::lowering
