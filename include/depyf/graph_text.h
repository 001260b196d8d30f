// Texts of graphs, as PyTorch prints them.
#pragma once

#include <string>
#include <string_view>

namespace depyf {

// A text that compiles where the given one does, and in a fraction of the time: most lines of a graph have one shape,
// whatever the graph,
//
//     add: "f32[4]" = torch.ops.aten.add.Tensor(x, 1, alpha = 2);  x = None
//
// over names, numbers, and lists and tuples of those. In place of each row of such lines, with the comments in it, stands
// `pass`; the head of the function and what it returns have one shape too. UTF-8 in and out.
std::string shortened_graph(std::string_view text);

}  // namespace depyf
