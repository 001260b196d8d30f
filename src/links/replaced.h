// Finds, for each node that a pass added to a graph, the nodes that the added node replaced.
//
// The names of nodes do not show which nodes a pass replaced: a pass copies the added nodes from a graph of its own,
// whose names may also occur elsewhere in the program. The evidence for a replacement is that the removed nodes and the
// added nodes lie between the same unchanged nodes.
//
// For example, a pass replaced the nodes permute_1, permute_2, bmm, div, softmax and bmm_1 by the nodes
// permute_default, `_scaled_dot_product...` and getitem. The unchanged nodes view_2, view_3 and view_4 are the inputs
// of both the removed and the added nodes, and the unchanged node permute_5 reads their result.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "links/index.h"

namespace depyf::links {

// Returns, for each node of the graphs in `after` that `before` does not have, the nodes of `before` that the new node
// replaces. A node of `before` is replaced if it lies between the inputs and the users of the new node, and is in no
// graph of `after`. The replaced nodes have the order of `before`. `after` is one graph, or the forward and the
// backward half of `before`. A new node that replaces no nodes is left out.
std::unordered_map<std::string, std::vector<std::string>> replaced_by(const Index& before,
                                                                      const std::vector<const Index*>& after);

}  // namespace depyf::links
