// What one pass made of a code object, for people who look into depyf.
#pragma once

#include <string>

#include "ast/node.h"
#include "lift/lift.h"

namespace depyf {

// Statements, markers of unfinished parts among them, under a line that names the code object and the pass.
std::string trace_of_statements(std::string_view pass, const CodeObject& code, ast::Block block);

// The graph that lift made: each node with its statements and how it ends.
std::string trace_of_nodes(std::string_view pass, const CodeObject& code, const Lifted& lifted);

}  // namespace depyf
