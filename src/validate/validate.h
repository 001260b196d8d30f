// Checks a finished tree, and replaces the statements that the version of Python for which the tree is printed would
// not compile.
#pragma once

#include <cstdint>

#include "ast/node.h"
#include "lift/context.h"

namespace depyf {

// Returns `body` with each statement that does not compile replaced by a comment that begins `depyf: not equal`, and a
// statement that raises. The innermost statement that does not compile is replaced; a compound statement is replaced
// only if its head does not compile. The bytecode of CPython's compiler never needs a replacement. Hostile bytecode
// may contain `return` with a value in an async generator, or two parameters of one name. Each replacement is recorded
// in `context.notes`. With Bodies::unchecked, a body that needs no further check after `check_body` is kept
// and not checked again.
enum class Bodies : std::uint8_t { unchecked, all };
ast::Block valid_statements(Context& context, ast::Block body, Version version, Bodies bodies = Bodies::unchecked);

// Checks the body of a definition of the kind `kind` like `valid_statements`, and replaces `body.block`. `code` is the
// code object of the body. Sets `body.checked_as` if the body needs no further check. A body with a `nonlocal`
// declaration is checked again in `valid_statements`, because only the statements around the definition show which
// names may be declared. Does nothing if the flags of `code` show another kind than `kind`, because later passes change
// such a body. Only hostile bytecode has such flags.
void check_body(Context& context, Body& body, const CodeObject& code, CheckedAs kind);

// Decides, for each field of a template string whose text may not evaluate to its value, whether the text or the value
// is printed. Returns `body` with a comment in front of each statement that has a field whose text may not evaluate to
// its value. The fields of template strings are printed in the grammar of `version`.
ast::Block settle_interpolations(Context& context, ast::Block body, Version version);

}  // namespace depyf
