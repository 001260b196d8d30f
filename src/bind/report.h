#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_report(nanobind::module_& module);

}  // namespace depyf
