// Does a finished tree mean what the bytecode does that it was made of?
#pragma once

#include <vector>

#include "ast/node.h"
#include "depyf/decompile.h"

namespace depyf {

// One entry for each code object that `root` holds, itself first. The tree is lowered to instructions, and the prover walks
// them beside the bytecode. `is_module`: `body` is what `root` is printed as; otherwise it holds the definition of `root`.
// Of `options` it uses the limits and the globals that are known to be there.
std::vector<CodeProof> prove_tree(ast::Block body, const CodeObject& root, bool is_module, const Options& options);

}  // namespace depyf
