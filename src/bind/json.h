// _core.json_text
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_json(nanobind::module_& module);

}  // namespace depyf
