// Marks in a finished tree that say what is not proved.
#pragma once

#include <vector>

#include "ast/node.h"
#include "depyf/decompile.h"
#include "lift/context.h"

namespace depyf {

// Puts a comment at the head of each definition that is not proved, and of the module if `is_module`. What is not proved of a
// lambda or a comprehension is said in the definition around it. Returns false if all is proved; `body` is as it was then.
bool mark_unproved(Context& context, ast::Block& body, const CodeObject& root, bool is_module,
                   const std::vector<CodeProof>& proofs);

}  // namespace depyf
