// Defines _core.prove and the classes of its result.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_prove(nanobind::module_& module);

}  // namespace depyf
