// Finds, for each node of AOTAutograd's graph, the nodes of Dynamo's captured graph from which the node comes.
//
// By default, a log does not record the captured nodes from which AOTAutograd made a node. AOTAutograd runs the
// captured graph node by node, so the nodes that it makes from one captured node are adjacent. The forward nodes of
// AOTAutograd's graph have the order of the captured graph, and its backward nodes have the opposite order. If a line
// of source has only one captured node, all nodes that AOTAutograd made for the line come from this captured node. If a
// line of source has several captured nodes, the row of adjacent nodes that AOTAutograd made for the line is cut into
// one part for each captured node. The row is cut so that as few nodes as possible read a value that their captured
// node does not read.
//
// For example, a line of source has the captured nodes `linear = ...(h, w, b)` and `h_1 = gelu(linear)`, and
// AOTAutograd made the row permute, addmm, mul_2, mul_3, erf, add_2, mul_4 for the line. The row is cut in front of
// mul_2: permute and addmm come from `linear`, and mul_2, mul_3, erf, add_2 and mul_4 come from `h_1`.
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
