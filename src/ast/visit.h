// Walks over trees.
#pragma once
#include "ast/node.h"
#include "support/function_ref.h"
namespace depyf::ast {
// Calls `visit` with each direct subexpression, in the order of evaluation. The slot may be replaced.
void for_each_child(Expr* expr, FunctionRef<void(Expr*&)> visit);
// The expressions that stand directly in a statement (not those of nested blocks), in the order of evaluation.
void for_each_expr(Stmt* stmt, FunctionRef<void(Expr*&)> visit);
// The nested blocks of a statement that are of the same scope, in their order; each may be replaced. The body of a
// definition is not among them: it is finished when the definition is made, and may stand in several.
void for_each_block(Stmt* stmt, FunctionRef<void(Block&)> visit);
}  // namespace depyf::ast
