// Try statements.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

void try_stmt(Unit& unit, const ast::Try& node);
// Unbinds the name of an exception behind its clause, as `e = None; del e`.
void unbind_name(Assembler& code, Variables& names, std::string_view id);

}  // namespace depyf::lowering
