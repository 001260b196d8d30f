// Binds the class that prints Inductor's IR.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_ir_text(nanobind::module_& module);

}  // namespace depyf
