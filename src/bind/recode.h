// Defines the functions of _core that change and check live code objects by means of src/recode.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_recode(nanobind::module_& module);

}  // namespace depyf
