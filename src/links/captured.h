// Which captured nodes each node of AOTAutograd's graph comes from.
//
// A log states it for none of these nodes by default, but AOTAutograd runs the captured graph node by node: the nodes that
// one captured node becomes stand together, in the order of the captured graph, and those of the backward in the opposite
// order. Where a line of source has one captured node, the line decides. Where it has several,
//
//     linear = ...(h, w, b)          permute, addmm, mul_2, mul_3, erf, add_2, mul_4
//     h_1 = gelu(linear)             linear: ~~~~~~~~~~~~~~  gelu: ~~~~~~~~~~~~~~~~~~
//
// the row of nodes is cut so that as few nodes as possible read a value which their captured node does not read.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "links/index.h"

namespace depyf::links {

using CapturedOf = std::unordered_map<std::string, std::vector<std::string>>;

// `recorded`: what PyTorch recorded of some nodes, by name.
CapturedOf captured_of(const Index& captured, const Index& graph, const CapturedOf& recorded);

}  // namespace depyf::links
