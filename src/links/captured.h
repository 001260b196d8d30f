// Finds for each node of AOTAutograd's graph the captured nodes that it comes from.
//
// By default a log records this for none of the nodes. But AOTAutograd runs the captured graph node by node: the nodes
// that one captured node becomes stand together, in the order of the captured graph, and in the backward in the
// opposite order. If a line of source has only one captured node, the line decides. If it has several,
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

// Returns the captured nodes of the nodes of `graph`, by name. `recorded` holds what PyTorch recorded for some of them.
CapturedOf captured_of(const Index& captured, const Index& graph, const CapturedOf& recorded);

}  // namespace depyf::links
