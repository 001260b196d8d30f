// Walks over a code object and the code objects among its constants.
#pragma once

#include <memory>
#include <utility>

#include "depyf/code_object.h"

namespace depyf {

// Calls `look` with the code object and each code object nested in it, the outermost first.
template <class Look>
void for_each_code(const CodeObject& code, const Look& look) {
  look(code);
  for (const Constant& constant : code.constants) {
    if (constant.code) for_each_code(*constant.code, look);
  }
}

// Calls `change` with each code object, the innermost first. `change` returns whether it changed its code object.
// Returns true if any code object was changed.
template <class Change>
bool change_each_code(CodeObject& code, const Change& change) {
  bool changed = false;
  for (Constant& constant : code.constants) {
    if (!constant.code) continue;
    CodeObject nested = *constant.code;
    if (!change_each_code(nested, change)) continue;
    constant.code = std::make_shared<const CodeObject>(std::move(nested));
    changed = true;
  }
  return change(code) || changed;
}

}  // namespace depyf
