// Binds the function that reads the events of PyTorch's timeline.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_timeline(nanobind::module_& module);

}  // namespace depyf
