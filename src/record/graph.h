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
// Graphs within the graph, which higher-order operators have, are classes of their own. They are indented further and
// left out.
#pragma once

#include <string_view>

#include "depyf/record.h"

namespace depyf::record {

// Returns the nodes, including the inputs, and what the graph returns. Lines that are no nodes are skipped. The
// caller sets the stage and the direction.
Graph graph_of(std::string_view text);

// Marks the nodes of a joint graph that compute gradients: those that read a tangent, directly or through other
// nodes, and those behind the last node that the forward returns.
void mark_backward(Graph& graph);

}  // namespace depyf::record
