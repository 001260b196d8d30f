// Checks a finished tree, and replaces the statements that Python of the version would not compile.
#pragma once

#include "ast/node.h"
#include "lift/context.h"

namespace depyf {

// Returns `body` with each statement that does not compile replaced by a comment that begins `depyf: not equal`, and a
// statement that raises. The innermost statement that does not compile is replaced; a compound statement only if its
// head does not compile. The bytecode of CPython's compiler never needs a replacement. Hostile bytecode may contain
// `return` with a value in an async generator, or two parameters of one name. Each replacement is recorded in
// `context.notes`.
ast::Block valid_statements(Context& context, ast::Block body, Version version);

// Decides, for each field of a template string whose text may not evaluate to its value, which of the two is printed.
// Returns `body` with a comment in front of each statement that has a field whose text may not evaluate to its value.
// The fields of template strings are printed in the grammar of `version`.
ast::Block settle_interpolations(Context& context, ast::Block body, Version version);

}  // namespace depyf
