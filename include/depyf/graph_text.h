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

// Returns a text that compiles if and only if the given text does, but takes a fraction of the time to compile. Each
// run of simple assignments is replaced by a single `pass`, together with the comments between the assignments. The
// operands of a simple assignment are names, numbers, and lists and tuples of names and numbers. A function head or a
// return statement is shortened, too, if it has the form that PyTorch usually prints. The given text and the returned
// text are UTF-8. Most lines of a graph are simple assignments, such as:
//
//     add: "f32[4]" = torch.ops.aten.add.Tensor(x, 1, alpha = 2);  x = None
std::string shortened_graph(std::string_view text);

// A line that defines one node of a graph, or one operation of Inductor's IR.
struct NamedLine {
  std::string_view name;
  std::string_view text;  // the line, without its line break
  std::size_t end;        // the end of the line, in characters from the start of the text
  std::size_t line;       // the number of the line, from 1
};

// Returns the lines that begin with a name: ` add: "f32[4]" = ...` or ` add = ...` in a graph, and `op0_op1: ...` in
// Inductor's IR. The first line of the text is never returned.
std::vector<NamedLine> named_lines(std::string_view text, bool of_ir);

// A part of a remark on a line: a list of names, which is cut short where there is no room for all of them.
struct RemarkNames {
  std::string before;              // the text in front of the names
  std::vector<std::string> names;  // the first names
  std::size_t count = 0;           // the number of all names
  std::string noun;                // the noun for what a name stands for, such as "kernel"
  std::string after;
};

// The text of a comment on a line: lists of names, or a sentence.
struct Remark {
  std::string sentence;
  std::vector<RemarkNames> parts;
};

// Returns a remark in at most `room` characters: as many names of each list as fit, and the number of the names that do
// not fit. Returns an empty string if even the numbers of names do not fit into `room`.
std::string remark_text(const Remark& remark, std::size_t room);

// Returns the text with a remark, which begins with `mark`, at the end of the first line that defines each name. A line
// with its remark has at most 200 characters, unless the line without its remark is longer. `lines` is filled with
// pairs of a name and the number of the line that defines it.
std::string with_remarks(std::string_view text, bool of_ir, std::string_view mark,
                         const std::function<Remark(const std::string& name)>& remark_of,
                         std::vector<std::pair<std::string, std::size_t>>& lines);

// Pairs of a name that PyTorch chose, and the name that replaces it.
using Renames = std::vector<std::pair<std::string, std::string>>;
// A hash function with which a map can be searched for a part of a text without a copy of the part.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
using NameOf = std::unordered_map<std::string, std::string, TextHash, std::equal_to<>>;

// Returns readable names for the inputs of a graph that AOTAutograd created. The comment behind an input contains a
// descriptor, which identifies an input of the captured graph; `captured` lists the inputs of the captured graph. The
// result is empty if an input in `captured` has no descriptor, because the indices in the descriptors then refer to the
// inputs of only a part of the captured graph. The result also pairs the descriptor of each input with a readable name
// for the input. If the graph already uses a new name for another value, an underscore is appended to the new name. For
// example, the descriptor in the following line of a graph identifies the second input of the captured graph:
//
//     primals_2: "f32[32][1]cpu",  # PlainAOTInput(idx=1)
Renames input_names(std::string_view text, const std::vector<std::string>& captured);

// Returns a name for an input of the captured graph: `blocks_0_n1_weight` for
// L['self']._modules['blocks']._modules['0']._modules['n1']._parameters['weight']. If `source` is empty or contains a
// call, the name is derived from Dynamo's name for the input.
std::string input_name(std::string_view name, std::string_view source);

// Returns the text of a graph with renamed inputs, and PyTorch's own name in a comment behind each input. If the graph
// already uses a new name for another value, an underscore is appended to the new name. The graph may differ from the
// graph from which `renames` was computed, but must have the same inputs. A renamed input looks as follows:
//
//     blocks_0_n1_weight: "f32[32][1]cpu",  # PyTorch's primals_2
std::string with_input_names(std::string_view text, const Renames& renames);

// `input_names_in` returns the renames that `with_input_names` applied to a text, and `original_name` returns
// PyTorch's own name in one line of a text with renamed inputs. The result is empty if the text contains no renamed
// input.
Renames input_names_in(std::string_view text);
std::string_view original_name(std::string_view line);

// Returns Python code in which variables are renamed.
std::string with_names(std::string_view code, const NameOf& names);

// Returns the text with a comment such as `# blocks.9.attn` above each run of nodes of one module. `headings` maps each
// node to its module. PyTorch prints a blank line in front of each comment that quotes a line of source. Between two
// nodes of the same module, `with_headings` removes the blank line that PyTorch printed; where another module begins,
// `with_headings` moves the blank line in front of the added comment. A comment that quotes a line of source has at
// most 200 characters.
std::string with_headings(std::string_view text, const NameOf& headings);

}  // namespace depyf
