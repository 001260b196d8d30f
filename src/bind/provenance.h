// Defines _core.Provenance, which links the source lines, graph nodes and kernels of a compilation.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_provenance(nanobind::module_& module);

}  // namespace depyf
