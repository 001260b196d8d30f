// Reads the text of a graph that PyTorch printed, and returns its nodes. The subgraphs of higher-order operators are
// separate classes that are indented further, and are left out. The text of a graph has this form:
//
//     class GraphModule(torch.nn.Module):
//         def forward(self, L_x_: "f32[8, 64][64, 1]cpu"):
//             l_x_ = L_x_
//
//             # File: train.py:12 in forward, code: h = gelu(x)
//             h: "f32[8, 64][64, 1]cpu" = torch._C._nn.gelu(l_x_);  l_x_ = None
//             return (h,)
#pragma once

#include <string_view>

#include "depyf/record.h"

namespace depyf::record {

// Returns the nodes of the graph, including its inputs, and the names of its outputs. Lines that are no nodes are
// skipped. The caller has to set the stage and the direction of the returned graph.
Graph graph_of(std::string_view text);

// Marks the nodes of a joint graph that compute gradients. The marked nodes are the nodes that read a tangent,
// directly or through other nodes, and the nodes after the last node that the forward graph returns.
void mark_backward(Graph& graph);

}  // namespace depyf::record
