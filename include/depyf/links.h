// Links each line of source to the forward and backward kernels that were generated from it, and the kernels to the
// line.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "depyf/record.h"

namespace depyf {

// Links the graphs and the output code of a compilation, which read_graphs has read. `link` fills in the captured
// nodes, lines and nodes of each kernel call, and the chains of the compilation. Links that PyTorch recorded
// (provenance tracking, comments in the output code) are kept unchanged. Links that PyTorch did not record are found
// by comparing the data flow of the graphs, and have "data flow" as their evidence. For a link that cannot be found,
// the reason is recorded.
void link(record::Compilation& compilation);

// Maps each node that a graph pass created to the nodes that it replaces. `before` is the text of the graph before the
// pass. `after` contains the texts of the pass's result: one graph, or its forward and its backward half. A created
// node replaces the nodes that lie between the same neighbours; the names of nodes are not compared.
std::unordered_map<std::string, std::vector<std::string>> replaced_nodes(std::string_view before,
                                                                         const std::vector<std::string_view>& after);

}  // namespace depyf
