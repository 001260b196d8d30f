// Lowers try statements.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

void try_stmt(Unit& unit, const ast::Try& node);
// Emits `e = None; del e`, which unbinds the name of an exception at the end of its except clause.
void unbind_name(Assembler& code, Variables& names, std::string_view id);

}  // namespace depyf::lowering
