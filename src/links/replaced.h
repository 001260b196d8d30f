// Which nodes of a graph the nodes that a pass put in their place stand for.
//
//     permute_1, permute_2, bmm, div, softmax, bmm_1          before, between view_2, view_3, view_4 and permute_5
//     permute_default, _scaled_dot_product..., getitem        after, between the same nodes
//
// Names are no evidence: a pass copies nodes from a graph of its own, whose names may be those of nodes anywhere in the program.
// What lies between the same nodes as before is.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "links/index.h"

namespace depyf::links {

// For each node of the graphs in `after` that `before` does not have: the nodes of `before` that lie between what the node
// reads and what reads it, and are in none of `after`, in their order. `after` is one graph, or the forward and the backward
// half of `before`. Nodes of which nothing can be told are left out.
std::unordered_map<std::string, std::vector<std::string>> replaced_by(const Index& before,
                                                                      const std::vector<const Index*>& after);

}  // namespace depyf::links
