// Defines depyf._core.decompile_files, which implements the command `depyf decompile` with the code of the command
// `depyf-decompile`.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {
void bind_command(nanobind::module_& module);
}  // namespace depyf
