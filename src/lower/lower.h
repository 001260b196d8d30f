// Compiles a finished syntax tree back to operations that are the same for all versions of CPython, without
// optimisation and without reordering blocks. The prover compares the lowered code with the bytecode from which the
// tree was decompiled.
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

// The lowered code of one scope of the tree. `code` has the fields of a code object that the prover compares, such as
// the name and the constants, and `decoded` has the instructions.
struct LoweredCode {
  CodeObject code;
  DecodedCode decoded;
  // The original code object from which the scope was decompiled; null if it is not known.
  const CodeObject* origin = nullptr;
  std::string failure;  // the reason why the scope could not be lowered; empty if it was lowered
};

// The lowered code of all scopes of a tree. `codes` owns the LoweredCode of each scope, and `by_code` maps the address
// of each `LoweredCode::code` to its LoweredCode.
struct LoweredTree {
  // Mangled private names (`_C__x`), which do not occur in the tree. The names of variables in `decoded` may be views
  // of texts in `names`.
  std::unordered_set<std::string> names;
  std::vector<std::shared_ptr<LoweredCode>> codes;  // the first element is the result for the whole tree
  std::unordered_map<const CodeObject*, const LoweredCode*> by_code;
};

// Lowers a tree. `root` is the code object from which the tree was decompiled, of which the version, the flags and the
// names of free variables are used. Instructions and constants may take `most_bytes` of memory; the lowering of a code
// object that exceeds this limit fails.
LoweredTree lower_tree(ast::Block body, const CodeObject& root, bool is_module, std::size_t most_bytes);

}  // namespace depyf
