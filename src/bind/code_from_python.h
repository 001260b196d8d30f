// A live code object of the running interpreter as plain data.
#pragma once

#include <nanobind/nanobind.h>

#include "depyf/code_object.h"

namespace depyf {

// `code` must be a code object. Reads attribute by attribute and runs no code of the constants: what is not exactly of
// a type that has literals becomes opaque.
CodeObject code_from_python(nanobind::handle code);

Version running_version();

}  // namespace depyf
