// Converts the statements of an exception handler to except clauses or to a finally body; see handlers.cpp.
#pragma once

#include "lift/context.h"
#include "support/table.h"

namespace depyf {

Table<ast::ExceptHandler> except_clauses(Context& context, const Table<ast::Stmt*>& body);

// Returns the body of a finally clause, without the markers that pop the exception where a return, break or continue
// leaves the body.
Table<ast::Stmt*> without_exception(Context& context, const Table<ast::Stmt*>& body);

// Removes from `statements` the markers that only earlier stages need, and returns the remaining statements. The list
// `statements`, its statements and their nested blocks are changed in place.
ast::Block clean(Context& context, ast::Block statements);

}  // namespace depyf
