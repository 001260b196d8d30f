// Defines _core.Provenance: the links of a compilation.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_provenance(nanobind::module_& module);

}  // namespace depyf
