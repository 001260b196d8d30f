// Lets tools and tests read and change the tree that `decompile` would print. `with_finished_tree` is defined in
// pipeline.cpp.
#pragma once

#include "ast/node.h"
#include "depyf/decompile.h"
#include "lift/context.h"
#include "support/function_ref.h"

namespace depyf {

// Calls `look` with the tree that `decompile` would print. `look` may change the tree. `is_module` is true if the tree
// is the body of a module; otherwise the tree holds the definition of `code`.
void with_finished_tree(const CodeObject& code, const Options& options,
                        FunctionRef<void(Context&, ast::Block, bool is_module)> look);

}  // namespace depyf
