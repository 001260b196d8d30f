// What changes and checks live code objects: src/recode.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_recode(nanobind::module_& module);

}  // namespace depyf
