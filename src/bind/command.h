// depyf._core.decompile_files: what depyf-decompile does, for `depyf decompile`.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {
void bind_command(nanobind::module_& module);
}  // namespace depyf
