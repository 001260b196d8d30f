// From a line of source to the kernels that it became, forward and backward, and back.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "depyf/record.h"

namespace depyf {

// Links the graphs and the output code of a compilation (read_graphs): fills the captured nodes, lines and nodes of each
// call, and the chains. What PyTorch recorded is taken as it is (provenance tracking, comments in the output code). For the
// rest the graphs are compared as data flow, and the evidence of a call says so. Where a link is missing the reason is given.
void link(record::Compilation& compilation);

// For each node that a pass made the nodes that it stands for, by the texts of the graph before the pass and of what the pass made
// of it: one graph, or the forward and the backward half. They lie between the same nodes; names are no evidence.
std::unordered_map<std::string, std::vector<std::string>> replaced_nodes(std::string_view before,
                                                                         const std::vector<std::string_view>& after);

}  // namespace depyf
