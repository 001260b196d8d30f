// A finished tree back to version-neutral operations, as plainly as the language defines it: no optimisation, no layout.
// The prover walks the result beside the bytecode that the tree was made of.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ast/node.h"
#include "decode/instruction.h"
#include "depyf/code_object.h"

namespace depyf {

// What one scope of the tree compiles to. `code` has everything but bytecode; `decoded` has the instructions.
struct LoweredCode {
  CodeObject code;
  DecodedCode decoded;
  const CodeObject* origin = nullptr;  // the code object that the tree's node was made of; null: not known
  std::string failure;  // why the scope could not be lowered; empty: it was
};

struct LoweredTree {
  std::vector<std::shared_ptr<LoweredCode>> codes;  // the first is that of the whole tree
  std::unordered_map<const CodeObject*, const LoweredCode*> by_code;
};

// `root`: the code object that the tree was made of; it is not looked into, but for its version, flags and names. `most_bytes`: what
// instructions and constants may take; code that needs more fails.
LoweredTree lower_tree(ast::Block body, const CodeObject& root, bool is_module, std::size_t most_bytes);

}  // namespace depyf
