// Defines _core.call_without, which calls C functions that free objects. The C functions are called only if no other
// thread is executing code of a given file, because the code of that file uses the objects.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_alone(nanobind::module_& module);

}  // namespace depyf
