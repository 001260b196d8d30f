// Puts comments into a finished tree where its meaning is not proved, or where the tree compiles to other bytecode than
// the original.
#pragma once

#include <string>
#include <vector>

#include "ast/node.h"
#include "depyf/decompile.h"
#include "lift/context.h"

namespace depyf {

// What a comment has to state about a code object.
struct CodeMark {
  const CodeObject* code;
  std::string text;
};

// Puts a comment at the head of the definition of each code object that has a mark, and at the head of the module if
// `is_module` is true. A code object without a definition in the tree, such as a lambda, a comprehension or the
// function that evaluates an annotation, has its mark in the definition around it. Returns false if `body` is
// unchanged.
bool add_marks(Context& context, ast::Block& body, const CodeObject& root, bool is_module,
               const std::vector<CodeMark>& marks);

// Returns a mark for each code object that is not proved.
std::vector<CodeMark> marks_of(const std::vector<CodeProof>& proofs);

}  // namespace depyf
