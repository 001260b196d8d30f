// Works on texts of graphs, as PyTorch prints them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace depyf {

// Returns a text that compiles if and only if the given text does, but takes a fraction of the time to compile. Most
// lines of a graph have one shape:
//
//     add: "f32[4]" = torch.ops.aten.add.Tensor(x, 1, alpha = 2);  x = None
//
// Their operands are names, numbers, and lists and tuples of those. Each run of such lines, with the comments in it, is
// replaced by `pass`. The head of the function and its return value have a fixed shape, too. Both texts are UTF-8.
std::string shortened_graph(std::string_view text);

// A line that defines one node of a graph, or one operation of Inductor's IR.
struct NamedLine {
  std::string_view name;
  std::size_t end;   // the end of the line, in characters from the start of the text
  std::size_t line;  // the number of the line, from 1
};

// Returns the lines that begin with a name: `    add: "f32[4]" = ...` or `    add = ...` in a graph, and `op0_op1: ...`
// in Inductor's IR. The first line of a text never counts.
std::vector<NamedLine> named_lines(std::string_view text, bool of_ir);

// A part of a remark on a line: a list of names, which is cut short where there is no room for all of them.
struct RemarkNames {
  std::string before;              // the text in front of the names
  std::vector<std::string> names;  // the first names
  std::size_t count = 0;           // the number of all names
  std::string noun;                // what each of the names is
  std::string after;
};

// The text of a comment on a line: lists of names, or a sentence.
struct Remark {
  std::string sentence;
  std::vector<RemarkNames> parts;
};

// Returns a remark in at most `room` characters: as many names of each list as fit, and the number of the others.
// Returns an empty string if there is no room even for the numbers.
std::string remark_text(const Remark& remark, std::size_t room);

// Returns the text with a remark behind the first line that defines each name. No line with its remark is longer than
// 200 characters, unless the line alone is. `lines` gets the number of that line for each name.
std::string with_remarks(std::string_view text, bool of_ir, std::string_view mark,
                         const std::function<Remark(const std::string& name)>& remark_of,
                         std::vector<std::pair<std::string, std::size_t>>& lines);

// Pairs of a name that PyTorch gave, and the name that replaces it.
using Renames = std::vector<std::pair<std::string, std::string>>;
using NameOf = std::unordered_map<std::string, std::string>;

// Returns readable names for the inputs of a graph that AOTAutograd made. The descriptors behind the inputs lead to the
// inputs of the captured graph, whose names are `captured`. For example, this line is about the second input:
//
//     primals_2: "f32[32][1]cpu",  # PlainAOTInput(idx=1)
//
// The result is empty if the descriptors count the inputs of a different graph, made from a part of the captured graph.
// The result holds the names by descriptor, too. A name that the graph uses for something else gets an underscore.
Renames input_names(std::string_view text, const std::vector<std::string>& captured);

// Returns a name for an input of the captured graph: `blocks_0_n1_weight` for
// L['self']._modules['blocks']._modules['0']._modules['n1']._parameters['weight']. If `source` is empty or contains a
// call, the name is taken from the name that Dynamo gave to the input.
std::string input_name(std::string_view name, std::string_view source);

// Returns the text with these names, and PyTorch's own name behind each input:
//
//     blocks_0_n1_weight: "f32[32][1]cpu",  # PyTorch's primals_2
//
// A name that this graph uses for something else gets an underscore. The graph may be another one with the same inputs.
std::string with_input_names(std::string_view text, const Renames& renames);

// Returns the names that `with_input_names` put into a text, and PyTorch's name in one line of it. The result is empty
// if there is none.
Renames input_names_in(std::string_view text);
std::string_view original_name(std::string_view line);

// Returns Python code in which variables are renamed.
std::string with_names(std::string_view code, const NameOf& names);

// Returns the text with a comment such as `# blocks.9.attn` above each run of nodes of one module. `headings` gives the
// module of each node. A blank line precedes each such comment, instead of each line of source. A comment that quotes a
// line of source has at most 200 characters.
std::string with_headings(std::string_view text, const NameOf& headings);

}  // namespace depyf
