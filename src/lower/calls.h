// Calls and their arguments, and attributes of super().
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

void call(Unit& unit, const ast::Call& node);
// `pushed`: arguments that lie on the stack already.
void arguments(Unit& unit, int pushed, ast::List<ast::Expr*> args, ast::List<ast::Keyword> keywords);
// False: it is no attribute of super() in its short form.
bool super_attribute(Unit& unit, const ast::Attribute& node);

}  // namespace depyf::lowering
