// Turns a changed code object back into a live code object.
#pragma once

#include <nanobind/nanobind.h>

#include "depyf/constant.h"

namespace depyf {

// `before` is the result of `code_from_python` for the live code object `live`, and `code` is a changed copy of
// `before`. Returns a code object like `live` with these changes; `live` itself if nothing changed. The new code object
// has the same live objects as constants, except for constants that changed.
//
// Raises ValueError if instructions changed and the changed bytecode is not sound.
nanobind::object code_to_python(const CodeObject& code, const CodeObject& before, nanobind::handle live);

// Returns the live object that a constant was read from, or a new object if the constant changed.
nanobind::object constant_to_python(const Constant& constant);

}  // namespace depyf
