// Lifts functions and classes; see definitions.cpp.
#pragma once

#include <string_view>

#include "lift/simulation.h"
#include "support/table.h"

namespace depyf::lifting {

// True if `text` is an identifier and no keyword.
bool is_name(std::string_view text);
// True if `expr` is a function that a `def` statement can define, because the name of the function is an identifier.
bool is_function(const Context& context, const ast::Expr* expr);
// True if `expr` is the call of __build_class__ that creates a class.
bool is_class(const ast::Expr* expr);
// Decompiles the body of a function.
Body build(Context& context, const FunctionValue& function);
// Returns a `def` statement that defines `function` under the name `name`.
ast::Stmt* function_def(Context& context, const Cursor& cursor, const FunctionValue& function, std::string_view name,
                        Table<ast::Expr*> decorators);
// Returns a `class` statement that defines a class under the name `name`; null if the call of __build_class__ does not
// have the form that the compiler emits.
ast::Stmt* class_def(Context& context, const Cursor& cursor, const ast::Call& call, std::string_view name,
                     Table<ast::Expr*> decorators);
// Returns the value of a body that only consists of `return` and `if` statements as one expression; null for any other
// body. If `generator` is set, the body may also be one `yield`.
ast::Expr* as_expression(Context& context, ast::Block block, bool generator);
// Emits the definition of `expr`, a function, class or type alias inside an expression, in front of the current
// statement, and replaces `expr` by its name. A lambda whose body is one expression stays a lambda expression.
void hoist(Simulation& sim, ast::Expr* expr);

}  // namespace depyf::lifting
