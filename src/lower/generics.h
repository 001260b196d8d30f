// Type parameters, type aliases, and functions that evaluate something later.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

// Emits a function that evaluates type parameters, and its call. `body` emits the code of the function, which returns
// the definition. So many `arguments` are on the stack.
void generic(Unit& unit, const void* node, std::string_view name, int arguments, FunctionRef<void(Unit&)> body);
// Binds the type parameters to their names and pushes the tuple of them.
void type_params(Unit& unit, ast::List<ast::TypeParam> params);
// Stores a type alias.
void type_alias(Unit& unit, const ast::TypeAlias& node, const ast::Stmt* stmt);
// Emits the test by which a function that evaluates something later refuses formats that it does not know (3.14 and
// later).
void format_test(Unit& unit);

}  // namespace depyf::lowering
