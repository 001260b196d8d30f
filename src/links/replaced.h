// Finds, for each node that a pass added to a graph, the nodes that it replaced.
//
//     permute_1, permute_2, bmm, div, softmax, bmm_1          before, between view_2, view_3, view_4 and permute_5
//     permute_default, _scaled_dot_product..., getitem        after, between the same nodes
//
// The names of nodes do not show what a pass replaced: it copies nodes from a graph of its own, whose names may also
// occur elsewhere in the program. The evidence is that old and new nodes lie between the same unchanged nodes.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "links/index.h"

namespace depyf::links {

// Returns, for each node of the graphs in `after` that `before` does not have, the nodes of `before` that it replaces:
// those between its inputs and its users that are in no graph of `after`, in their order. `after` is one graph, or the
// forward and the backward half of `before`. A node for which no replaced nodes are found is left out.
std::unordered_map<std::string, std::vector<std::string>> replaced_by(const Index& before,
                                                                      const std::vector<const Index*>& after);

}  // namespace depyf::links
