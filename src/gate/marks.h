// Puts comments into a finished tree where its meaning is not proved, or where the tree compiles to other bytecode than
// the original.
#pragma once

#include <string>
#include <vector>

#include "ast/node.h"
#include "depyf/decompile.h"
#include "lift/context.h"

namespace depyf {

// A mark is the text of a comment that the definition of the code object `code` gets, for example because the code
// object is not proved.
struct CodeMark {
  const CodeObject* code;
  std::string text;
};

// For each mark, inserts the comment at the start of the function body or class body that defines the code object. If
// `is_module` is true, the comment for `root` is inserted at the start of the module. Code objects without a definition
// in the tree are lambdas, comprehensions and functions that evaluate annotations; the comment for such a code object
// is inserted into the definition around it. Returns false if `body` is unchanged.
bool add_marks(Context& context, ast::Block& body, const CodeObject& root, bool is_module,
               const std::vector<CodeMark>& marks);

// Returns a mark (the text of a comment) for each code object that is not proved.
std::vector<CodeMark> marks_of(const std::vector<CodeProof>& proofs);

}  // namespace depyf
