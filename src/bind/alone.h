// Defines _core.call_without, which calls functions of C that free objects, only if no other thread is executing code
// of the file that uses these objects.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_alone(nanobind::module_& module);

}  // namespace depyf
