// Artifacts that PyTorch saved.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_artifact(nanobind::module_& module);

}  // namespace depyf
