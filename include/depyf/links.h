// Links each line of source to the forward and backward kernels that were generated from it, and each kernel to its
// lines of source.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "depyf/record.h"

namespace depyf {

// Links the graphs and the output code of a compilation, which read_graphs has read. For each kernel call, `link` fills
// in the nodes, captured nodes and lines of source from which the call comes. For each captured node, `link` fills in
// the chain of links (record::Chain). Links that PyTorch recorded (provenance tracking, comments in the output code)
// are kept unchanged. Links that PyTorch did not record are derived by comparing the data flow of the graphs, and have
// "data flow" as their evidence. If a link cannot be derived, the reason is recorded.
void link(record::Compilation& compilation);

// Returns a map from each node that a graph pass created to the nodes that the created node replaces. `before` is the
// text of the graph before the pass. `after` contains the text of the graph that the pass returned, or the texts of the
// forward graph and the backward graph that it returned. A created node replaces the removed nodes that lie between the
// same unchanged nodes as the created node; the names of created and removed nodes are not compared.
std::unordered_map<std::string, std::vector<std::string>> replaced_nodes(std::string_view before,
                                                                         const std::vector<std::string_view>& after);

}  // namespace depyf
