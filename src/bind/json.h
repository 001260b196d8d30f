// Defines the function _core.json_text, and its class _core.JsonText.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_json(nanobind::module_& module);

}  // namespace depyf
