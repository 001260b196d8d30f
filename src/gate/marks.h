// Puts comments into a finished tree where its meaning is not proved.
#pragma once

#include <vector>

#include "ast/node.h"
#include "depyf/decompile.h"
#include "lift/context.h"

namespace depyf {

// Puts a comment at the head of each definition whose meaning is not proved, and of the module if `is_module` is true.
// For a lambda or comprehension that is not proved, the definition around it gets the comment. Returns false if
// everything is proved; `body` is unchanged in this case.
bool mark_unproved(Context& context, ast::Block& body, const CodeObject& root, bool is_module,
                   const std::vector<CodeProof>& proofs);

}  // namespace depyf
