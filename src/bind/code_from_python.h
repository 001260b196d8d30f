// Reads a live code object of the running interpreter as plain data.
#pragma once

#include <nanobind/nanobind.h>

#include "depyf/constant.h"

namespace depyf {

// Reads `code`, which must be a code object, attribute by attribute. No code of the constants runs: a constant becomes
// opaque unless its type is exactly one that has literals.
CodeObject code_from_python(nanobind::handle code);

Version running_version();

}  // namespace depyf
