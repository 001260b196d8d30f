// Decides whether a finished tree means the same as the bytecode from which it was made.
#pragma once

#include <vector>

#include "ast/node.h"
#include "decode/decode.h"
#include "depyf/decompile.h"

namespace depyf {

// Returns a proof result for `root` and for each code object in it, `root` first. The tree is lowered to instructions,
// which the prover compares with the bytecode by executing both symbolically. `is_module` is true if `body` is the body
// of the module `root`; otherwise `body` holds the definition of `root`. The function uses only three members of
// `options`: `limits`, the globals that keep their values (`installed`), and the number of outputs of each global
// function in `outputs`. Code objects in `decoded` are not decoded again.
std::vector<CodeProof> prove_tree(ast::Block body, const CodeObject& root, bool is_module, const Options& options,
                                  const DecodedCodes& decoded = {});

}  // namespace depyf
