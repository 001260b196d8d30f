// The text of a graph as PyTorch prints it, read back to nodes.
//
//     class GraphModule(torch.nn.Module):
//         def forward(self, L_x_: "f32[8, 64][64, 1]cpu"):
//             l_x_ = L_x_
//
//             # File: train.py:12 in forward, code: h = gelu(x)
//             h: "f32[8, 64][64, 1]cpu" = torch._C._nn.gelu(l_x_);  l_x_ = None
//             return (h,)
//
// Graphs within the graph (of higher-order operators) are classes of their own, which stand deeper and are left out.
#pragma once

#include <string_view>

#include "depyf/record.h"

namespace depyf::record {

// Reads the nodes, the inputs among them, and what the graph returns. A line that is no node is passed over. The stage and
// the direction are for the caller to state.
Graph graph_of(std::string_view text);

// Marks the nodes of a joint graph that compute gradients: those that read a tangent, directly or not, and what stands
// behind the last node that the forward returns.
void mark_backward(Graph& graph);

}  // namespace depyf::record
