// Binds the function that reads PyTorch's notes on the origin of nodes, which are entries of `node.meta`.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_node_rows(nanobind::module_& module);

}  // namespace depyf
