// Reads a live code object of the running interpreter as plain data.
#pragma once

#include <nanobind/nanobind.h>

#include "depyf/constant.h"

namespace depyf {

// Reads `code`, which must be a code object, attribute by attribute. No Python code of the constants' classes runs,
// because a constant becomes opaque unless its type is exactly one of the builtin types of constants.
CodeObject code_from_python(nanobind::handle code);

// Throws TypeError unless `object` is a code object.
void check_is_code(nanobind::handle object);

Version running_version();

}  // namespace depyf
