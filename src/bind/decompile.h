// Defines _core.decompile and the class of its result.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_decompile(nanobind::module_& module);

}  // namespace depyf
