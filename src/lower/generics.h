// Type parameters and type aliases, and functions that evaluate something later.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

// What has type parameters is made in a function of its own, which is called at once; `arguments` lie on the stack.
void generic(Unit& unit, const void* node, std::string_view name, int arguments,
             const std::function<void(Unit&)>& body);
// Leaves the tuple of the type parameters, each of which is bound to its name.
void type_params(Unit& unit, ast::List<ast::TypeParam> params);
void type_alias(Unit& unit, const ast::TypeAlias& node, const ast::Stmt* stmt);
// Each function that evaluates something later refuses formats that it does not know (3.14 and later).
void format_test(Unit& unit);

}  // namespace depyf::lowering
