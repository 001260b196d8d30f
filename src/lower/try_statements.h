// try statements.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

void try_stmt(Unit& unit, const ast::Try& node);
// The name of an exception is unbound behind its handler.
void unbind_name(Assembler& code, Variables& names, std::string_view id);

}  // namespace depyf::lowering
