// Nested statements of a handler as the clauses of a try statement; see handlers.cpp.
#pragma once

#include <vector>

#include "lift/context.h"

namespace depyf {

std::vector<ast::ExceptHandler> except_clauses(Context& context, const std::vector<ast::Stmt*>& body);

// The body of a finally clause. It drops the exception where it leaves by return, break or continue.
std::vector<ast::Stmt*> without_exception(Context& context, const std::vector<ast::Stmt*>& body);

// `statements`, which it changes, without what only the stages before know.
ast::Block clean(Context& context, ast::Block statements);

}  // namespace depyf
