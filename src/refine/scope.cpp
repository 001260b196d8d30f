#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "refine/refine.h"

namespace depyf {

Scope::Kind kind_of(const CodeObject& code) {
  if (code.flags & CodeObject::new_locals)
    return !code.name.empty() && code.name[0] == '<' ? Scope::Kind::expression : Scope::Kind::function;
  return code.name == "<module>" || (code.flags & CodeObject::optimized) ? Scope::Kind::module
                                                                         : Scope::Kind::class_body;
}

namespace {

using Look = FunctionRef<void(const CodeObject&, const CodeObject*)>;

// True if the code is printed in a definition of its own. Lambdas, comprehensions and annotations are printed in the
// definition around them.
bool is_definition(const CodeObject& code) {
  if (dialect_of(code.version).deferred_annotations && code.name == "__annotate__") return false;
  return kind_of(code) != Scope::Kind::expression;
}

// Calls `look` for one code object and those nested in it, down to `left` levels.
void walk_codes(const CodeObject& code, const CodeObject* definition, std::uint32_t left, const Look& look) {
  if (is_definition(code)) definition = &code;
  look(code, definition);
  if (left == 0) return;
  for (const Constant& constant : code.constants)
    if (constant.code) walk_codes(*constant.code, definition, left - 1, look);
}

}  // namespace

void for_each_code(const CodeObject& root, std::uint32_t limit, Look look) { walk_codes(root, &root, limit, look); }

}  // namespace depyf
