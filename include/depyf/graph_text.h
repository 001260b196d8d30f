// Texts of graphs, as PyTorch prints them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace depyf {

// A text that compiles where the given one does, and in a fraction of the time: most lines of a graph have one shape,
// whatever the graph,
//
//     add: "f32[4]" = torch.ops.aten.add.Tensor(x, 1, alpha = 2);  x = None
//
// over names, numbers, and lists and tuples of those. In place of each row of such lines, with the comments in it, stands
// `pass`; the head of the function and what it returns have one shape too. UTF-8 in and out.
std::string shortened_graph(std::string_view text);

// A line that tells of one node of a graph, or of one operation of Inductor's IR.
struct NamedLine {
  std::string_view name;
  std::size_t end;   // of the line, in characters from the start of the text
  std::size_t line;  // its number, from 1
};

// The lines that begin with a name: of a graph `    add: "f32[4]" = ...` or `    add = ...`, of the IR `op0_op1: ...`. The
// first line of a text is none.
std::vector<NamedLine> named_lines(std::string_view text, bool of_ir);

}  // namespace depyf
