// Binds the functions that print the statements of live FX graphs.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_graph_statements(nanobind::module_& module);

}  // namespace depyf
