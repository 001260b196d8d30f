// The tree that `decompile` prints, for tools and tests of the gate; `pipeline.cpp` makes it.
#pragma once

#include "ast/node.h"
#include "depyf/decompile.h"
#include "lift/context.h"
#include "support/function_ref.h"

namespace depyf {

// Calls `look` with the tree that `decompile` would print, which it may change. `is_module`: the tree is that of a module;
// otherwise it holds the definition of what `code` is.
void with_finished_tree(const CodeObject& code, const Options& options,
                        FunctionRef<void(Context&, ast::Block, bool is_module)> look);

}  // namespace depyf
