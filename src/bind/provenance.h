// The links of a compilation: _core.Provenance
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_provenance(nanobind::module_& module);

}  // namespace depyf
