// A changed code object as a live one.
#pragma once

#include <nanobind/nanobind.h>

#include "depyf/code_object.h"

namespace depyf {

// `live` with what differs replaced: constants that did not change stay the very same objects. The same object where
// nothing differs. `before`: what `code_from_python` gave for `live`.
//
// Raises ValueError where instructions changed and are not sound.
nanobind::object code_to_python(const CodeObject& code, const CodeObject& before, nanobind::handle live);

// The live object that a constant was read from, or a new one where it changed.
nanobind::object constant_to_python(const Constant& constant);

}  // namespace depyf
