// Checks a finished tree, and replaces whatever no Python of the version would compile.
#pragma once

#include "ast/node.h"
#include "lift/context.h"

namespace depyf {

// Returns `body` with each statement that does not compile replaced by a comment that begins `depyf: not equal`, and a
// statement that raises. The smallest such statement is replaced; a compound one only if its head is the reason. A
// compiler's bytecode never leads to such statements. Hostile bytecode may contain `return` with a value in an async
// generator, or two parameters of one name. Each replacement is recorded in `context.notes`.
ast::Block valid_statements(Context& context, ast::Block body, Version version);

// Returns `body` with a mark in front of each statement that has a template string with a field whose text may not give
// its value, and decides which of the two such fields show. The grammar is that of `version`.
ast::Block settle_interpolations(Context& context, ast::Block body, Version version);

}  // namespace depyf
