// Turns a changed code object back into a live one.
#pragma once

#include <nanobind/nanobind.h>

#include "depyf/constant.h"

namespace depyf {

// Returns a code object like `live` with all differences to `code` applied; `live` itself if there is no difference.
// Constants that did not change stay the same live objects. `before` is the result of `code_from_python` for `live`.
//
// Raises ValueError if instructions changed and are not sound.
nanobind::object code_to_python(const CodeObject& code, const CodeObject& before, nanobind::handle live);

// Returns the live object that a constant was read from, or a new object if the constant changed.
nanobind::object constant_to_python(const Constant& constant);

}  // namespace depyf
