#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_frame(nanobind::module_& module);

}  // namespace depyf
