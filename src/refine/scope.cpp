#include "depyf/code_object.h"
#include "refine/refine.h"

namespace depyf {

Scope::Kind kind_of(const CodeObject& code) {
  if (code.flags & CodeObject::new_locals)
    return !code.name.empty() && code.name[0] == '<' ? Scope::Kind::expression : Scope::Kind::function;
  return code.name == "<module>" || (code.flags & CodeObject::optimized) ? Scope::Kind::module
                                                                         : Scope::Kind::class_body;
}

}  // namespace depyf
