// _core.call_without: functions of C that are called while no other thread is at what they free.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_alone(nanobind::module_& module);

}  // namespace depyf
