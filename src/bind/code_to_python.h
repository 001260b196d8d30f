// Turns a changed code object back into a live code object.
#pragma once

#include <nanobind/nanobind.h>

#include "depyf/constant.h"

namespace depyf {

// Returns a code object like `live` with all differences to `code` applied; `live` itself if there is no difference.
// The new code object has the same live objects as constants, except for constants that changed. `before` is the result
// of `code_from_python` for `live`.
//
// Raises ValueError if instructions changed and the changed bytecode is not sound.
nanobind::object code_to_python(const CodeObject& code, const CodeObject& before, nanobind::handle live);

// Returns the live object that a constant was read from, or a new object if the constant changed.
nanobind::object constant_to_python(const Constant& constant);

}  // namespace depyf
