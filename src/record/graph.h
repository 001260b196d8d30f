// Reads the text of a graph as PyTorch prints it, and returns its nodes.
//
//     class GraphModule(torch.nn.Module):
//         def forward(self, L_x_: "f32[8, 64][64, 1]cpu"):
//             l_x_ = L_x_
//
//             # File: train.py:12 in forward, code: h = gelu(x)
//             h: "f32[8, 64][64, 1]cpu" = torch._C._nn.gelu(l_x_);  l_x_ = None
//             return (h,)
//
// The subgraphs of higher-order operators are separate classes that are indented further, and are left out.
#pragma once

#include <string_view>

#include "depyf/record.h"

namespace depyf::record {

// Returns the nodes of the graph, including its inputs, and the names of its outputs. Lines that are no nodes are
// skipped. The caller sets the stage and the direction.
Graph graph_of(std::string_view text);

// Marks the nodes of a joint graph that compute gradients: those that read a tangent, directly or through other nodes,
// and those after the last node that the forward graph returns.
void mark_backward(Graph& graph);

}  // namespace depyf::record
