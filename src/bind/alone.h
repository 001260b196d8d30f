// Defines _core.call_without: it calls functions of C only if no other thread is using the objects that they free.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_alone(nanobind::module_& module);

}  // namespace depyf
