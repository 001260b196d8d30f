// Lowers calls with their arguments, and attributes of super().
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

void call(Unit& unit, const ast::Call& node);
// Emits the arguments and the call. The callable is on the stack already, and so are `pushed` arguments in front of
// `args`.
void arguments(Unit& unit, int pushed, ast::List<ast::Expr*> args, ast::List<ast::Keyword> keywords);
// Emits `super().name` as LOAD_SUPER_ATTR. Returns false, and emits nothing, if the compiler would not use
// LOAD_SUPER_ATTR for `node`.
bool super_attribute(Unit& unit, const ast::Attribute& node);

}  // namespace depyf::lowering
