// Prints the bodies of Inductor's loops.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <string>
#include <string_view>

namespace depyf {

// Appends the lines that PyTorch prints for the body of a loop of Inductor's IR. The function supports only the few
// kinds of nodes of which nearly all bodies consist. Raises a ValueError in Python if only PyTorch can print the body.
//
// The callback `add_operation` receives the operation of each node, such as "call_method".
void append_loop_statements(std::string& text, nanobind::list nodes,
                            const std::function<void(std::string_view)>& add_operation);

}  // namespace depyf
