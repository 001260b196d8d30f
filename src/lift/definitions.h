// Functions and classes; see definitions.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "lift/simulation.h"

namespace depyf::lifting {

// True for an identifier that is no keyword.
bool is_name(std::string_view text);
bool is_function(const Context& context, const ast::Expr* expr);
bool is_class(const ast::Expr* expr);
Body build(Context& context, const FunctionValue& function);
ast::Stmt* function_def(Context& context, const Cursor& cursor, const FunctionValue& function, std::string_view name,
                        std::vector<ast::Expr*> decorators);
ast::Stmt* class_def(Context& context, const Cursor& cursor, const ast::Call& call, std::string_view name,
                     std::vector<ast::Expr*> decorators);
// A body that only returns, as one expression; null: it does more.
ast::Expr* as_expression(Context& context, ast::Block block, bool generator);
// A function, class or lambda that stands where only an expression may: defined before, under a name.
void hoist(Simulation& sim, ast::Expr* expr);

}  // namespace depyf::lifting
