// Functions and classes; see definitions.cpp.
#pragma once

#include <string_view>

#include "lift/simulation.h"
#include "support/table.h"

namespace depyf::lifting {

// True for an identifier that is no keyword.
bool is_name(std::string_view text);
// True if `expr` is a function that a `def` statement can define: its name is an identifier.
bool is_function(const Context& context, const ast::Expr* expr);
// True if `expr` is the call that makes a class.
bool is_class(const ast::Expr* expr);
// Decompiles the body of a function.
Body build(Context& context, const FunctionValue& function);
// Returns the definition of a function under `name`.
ast::Stmt* function_def(Context& context, const Cursor& cursor, const FunctionValue& function, std::string_view name,
                        Table<ast::Expr*> decorators);
// Returns the definition of a class under `name`; null if the call has another shape.
ast::Stmt* class_def(Context& context, const Cursor& cursor, const ast::Call& call, std::string_view name,
                     Table<ast::Expr*> decorators);
// Returns a body that only returns as one expression; null if the body does more.
ast::Expr* as_expression(Context& context, ast::Block block, bool generator);
// Defines a function, class or lambda in front of the current statement, and replaces `expr` by its name. This is for
// definitions that stand where only an expression may.
void hoist(Simulation& sim, ast::Expr* expr);

}  // namespace depyf::lifting
