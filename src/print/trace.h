// Shows the result of a pass for a code object, for developers of depyf.
#pragma once

#include <string>

#include "ast/node.h"
#include "lift/lift.h"

namespace depyf {

// Returns the statements of `block` as source, below a line that names the code object and the pass. Markers of
// unfinished parts of the tree are printed, too.
std::string trace_of_statements(std::string_view pass, const CodeObject& code, ast::Block block);

// Returns the graph of lifted nodes as text: each node with its statements, and how it ends.
std::string trace_of_nodes(std::string_view pass, const CodeObject& code, const Lifted& lifted);

}  // namespace depyf
