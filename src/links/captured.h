// Finds for each node of AOTAutograd's graph the nodes of Dynamo's captured graph that it comes from.
//
// By default, a log does not record from which captured nodes AOTAutograd made a node. AOTAutograd runs the captured
// graph node by node, so the nodes that it makes of one captured node are adjacent. The nodes of AOTAutograd's graph
// have the order of the captured graph, and those of the backward the opposite order. If a line of source has only one
// captured node, all nodes of the line come from that node. If a line has several captured nodes, its row of nodes is
// cut so that as few nodes as possible read a value that their captured node does not read:
//
//     linear = ...(h, w, b)          permute, addmm, mul_2, mul_3, erf, add_2, mul_4
//     h_1 = gelu(linear)             linear: ~~~~~~~~~~~~~~  gelu: ~~~~~~~~~~~~~~~~~~
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "links/index.h"

namespace depyf::links {

using CapturedOf = std::unordered_map<std::string, std::vector<std::string>>;

// Returns the captured nodes of each node of `graph`, by the name of the node. `recorded` contains the captured nodes
// that PyTorch recorded for some nodes.
CapturedOf captured_of(const Index& captured, const Index& graph, const CapturedOf& recorded);

}  // namespace depyf::links
