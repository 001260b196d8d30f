// Defines the functions of _core that read and compare the files in which PyTorch saved compilations.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_artifact(nanobind::module_& module);

}  // namespace depyf
