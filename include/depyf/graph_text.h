// Texts of graphs, as PyTorch prints them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
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

// A part of a remark on a line: names, of which the first ones stand for all where there is no room.
struct RemarkNames {
  std::string before;              // what stands in front of them
  std::vector<std::string> names;  // the first ones
  std::size_t count = 0;           // how many there are
  std::string noun;                // what each of them is
  std::string after;
};

// What a comment says of a line: names, or a sentence.
struct Remark {
  std::string sentence;
  std::vector<RemarkNames> parts;
};

// A remark in at most `room` characters: of each list as many names as fit, and how many more there are. Empty where there is no
// room for the numbers alone.
std::string remark_text(const Remark& remark, std::size_t room);

// The text with a remark behind the first line that tells of each name; no line with its remark is longer than 200 characters,
// unless the line itself is. `lines` gets the number of that line for each name.
std::string with_remarks(std::string_view text, bool of_ir, std::string_view mark,
                         const std::function<Remark(const std::string& name)>& remark_of,
                         std::vector<std::pair<std::string, std::size_t>>& lines);

// Pairs of a name that PyTorch gave and the one that stands in its place.
using Renames = std::vector<std::pair<std::string, std::string>>;
using NameOf = std::unordered_map<std::string, std::string>;

// Readable names for the inputs of a graph that AOTAutograd made, as the descriptors behind them tell:
//
//     primals_2: "f32[32][1]cpu",  # PlainAOTInput(idx=1)
//
// is the second input of the captured graph, whose inputs have the given names. Empty where the descriptors count the inputs
// of another graph, one that a part of the captured graph was made to. The result holds the names by
// descriptor too. A name that the graph uses for something else gets an underscore.
Renames input_names(std::string_view text, const std::vector<std::string>& captured);

// A name for an input of the captured graph: `blocks_0_n1_weight` for L['self']._modules['blocks']._modules['0']._modules['n1']
// ._parameters['weight']; where `source` is empty or calls something, what the name that Dynamo gave the input says.
std::string input_name(std::string_view name, std::string_view source);

// The text with these names, and behind each input that of PyTorch:
//
//     blocks_0_n1_weight: "f32[32][1]cpu",  # PyTorch's primals_2
//
// A name that this graph, another of the same inputs, uses for something else gets an underscore.
std::string with_input_names(std::string_view text, const Renames& renames);

// The names that `with_input_names` gave in a text, and the one in a line; empty if there is none.
Renames input_names_in(std::string_view text);
std::string_view original_name(std::string_view line);

// Python code with other names of variables.
std::string with_names(std::string_view code, const NameOf& names);

// The text with a comment `# blocks.9.attn` above each row of nodes of one module, by the names of the nodes. A blank line
// stands above such a comment and no longer above each line of source; a comment that names a line of source is at most 200
// characters long.
std::string with_headings(std::string_view text, const NameOf& headings);

}  // namespace depyf
