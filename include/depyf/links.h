// Links a line of source to the kernels that it became, forward and backward, and the kernels to the line.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "depyf/record.h"

namespace depyf {

// Links the graphs and the output code of a compilation, which read_graphs has read. The function fills in the captured
// nodes, lines and nodes of each call, and the chains. Links that PyTorch recorded (provenance tracking, comments in
// the output code) are kept as they are. For the rest the graphs are compared as data flow, and the evidence of a call
// says so. A missing link gets a reason.
void link(record::Compilation& compilation);

// Returns, for each node that a pass made, the nodes that it replaces. `before` is the text of the graph before the
// pass. `after` holds the texts of its result: one graph, or the forward and the backward half. A node replaces the
// nodes that lie between the same neighbours; names are no evidence.
std::unordered_map<std::string, std::vector<std::string>> replaced_nodes(std::string_view before,
                                                                         const std::vector<std::string_view>& after);

}  // namespace depyf
