// Lowers type parameters and type aliases, whose bounds, defaults and values the compiler evaluates lazily in functions
// of their own.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

// For a generic definition, emits a function that evaluates the type parameters and returns the definition, and emits a
// call of this function. `node` is the key of the function's scope in `Scope::children`, and `body` emits the code of
// the function. `arguments` is the number of arguments of the call, which are on the stack already.
void generic(Unit& unit, const void* node, std::string_view name, int arguments, FunctionRef<void(Unit&)> body);
// Emits the creation of the type parameters, stores each under its name, and pushes the tuple of all type parameters.
void type_params(Unit& unit, ast::List<ast::TypeParam> params);
// Emits a `type` statement.
void type_alias(Unit& unit, const ast::TypeAlias& node, const ast::Stmt* stmt);
// Emits the test by which a lazily called function such as `__annotate__` rejects unknown formats (3.14 and later).
void format_test(Unit& unit);

}  // namespace depyf::lowering
