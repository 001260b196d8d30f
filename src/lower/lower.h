// Compiles a finished tree back to version-neutral operations, as plainly as the language defines them, without
// optimisation and layout. The prover compares the result with the bytecode that the tree was made of.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ast/node.h"
#include "decode/instruction.h"
#include "depyf/code_object.h"

namespace depyf {

// The result for one scope of the tree. `code` has all fields but the bytecode and the file, and `decoded` has the
// instructions.
struct LoweredCode {
  CodeObject code;
  DecodedCode decoded;
  // The code object that the node of the scope was made of; null if it is not known.
  const CodeObject* origin = nullptr;
  std::string failure;  // why the scope could not be lowered; empty if it could
};

// The results for all scopes. `codes` keeps them alive, the first for the whole tree; `by_code` finds them.
struct LoweredTree {
  // Names that are not in the tree: private names with the name of their class. The instructions' locals point into it.
  std::unordered_set<std::string> names;
  std::vector<std::shared_ptr<LoweredCode>> codes;  // the first is that of the whole tree
  std::unordered_map<const CodeObject*, const LoweredCode*> by_code;
};

// Lowers a tree. `root` is the code object that the tree was made of; only its version, flags and names are used.
// Instructions and constants may take `most_bytes` of memory; code objects beyond that fail.
LoweredTree lower_tree(ast::Block body, const CodeObject& root, bool is_module, std::size_t most_bytes);

}  // namespace depyf
