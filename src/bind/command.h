// Defines depyf._core.decompile_files, which does for `depyf decompile` what depyf-decompile does.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {
void bind_command(nanobind::module_& module);
}  // namespace depyf
