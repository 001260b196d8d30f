// The last look at a finished tree: what no Python of the version compiles is replaced where it stands.
#pragma once

#include "ast/node.h"
#include "lift/context.h"

namespace depyf {

// `body` with each statement that does not compile replaced by a mark (a comment that begins `depyf: not equal`) and a raise.
// It is the smallest such statement: a compound one only where its head is the reason. Bytecode that a compiler made gives no
// such statement; hostile bytecode may say `return` with a value in an async generator, or name two parameters alike. Each
// replacement is noted in `context.notes`.
ast::Block valid_statements(Context& context, ast::Block body, Version version);

}  // namespace depyf
