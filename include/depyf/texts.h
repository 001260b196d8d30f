// Writes texts about a run, for readers.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf {

// Returns a summary of the run in English sentences: the functions, the slowest to compile first, with their graph
// breaks, recompilations and seconds, and the differences between ranks. Control characters in texts of the log are
// escaped.
std::string summary(const record::Run& run);

// A text of a log that is written to a file of its own.
struct LogText {
  std::string kind;  // the kind that the text's file has in a dump, such as Joint_graph, or "guards"
  std::string direction;  // "forward" or "backward"; empty if the text has no direction
  std::string text;
};
// The texts of one process, as a list for each compilation.
using LogTexts = std::vector<std::vector<LogText>>;

// Returns the names and texts of the files that describe a dump or logs. index.md fits on one screen and links to the
// other files: a file for each compilation, tables.md if graphs were read, provenance.md with the results of captured
// nodes, and the texts of logs. `run` has one process for each execution of the program that wrote the dump, the latest
// execution last. `texts` has an item for each process, or is empty.
std::map<std::string, std::string> index_files(const record::Run& run, const std::vector<LogTexts>& texts = {});

// Returns a text with the forward and backward kernels that were generated from each line of source, and the number of
// kernel calls with a known line. The result is empty if no kernel call is linked to a line.
std::string links_text(const record::Run& run);

// The description of a compilation in English sentences.
struct Words {
  std::string headline;  // for a function without compiled code: the function, the code that runs, and the cause
  std::vector<std::string> details;  // the lines after the headline: the rest of an error, the use of a limit, hints
  std::vector<std::string> reasons;  // why the function was compiled again, and where its graph ends
  std::string deciding;  // why the nearest earlier compilation rejects the call, and the number of further reasons
  std::vector<std::string> failures;  // why each earlier compilation rejects the call
  std::vector<std::string> symbols;  // the symbolic sizes of the graph
  std::vector<std::string> at_run_time;  // the values that are known only when the graph runs
  std::vector<std::string> places;  // the source lines of the graph breaks; lines inside PyTorch come first
  std::vector<std::string> breaks;  // a line for each graph break: its place, the reason, the explanation
  std::vector<std::string> guards;  // a line for each failed guard, without guards that fail as a consequence
};

// Returns the description of a compilation in English sentences. `title` is the name of the function in the sentences;
// if it is empty, the name in the compilation is used.
Words words_of(const record::Compilation& compilation, const std::string& title);

// Returns a text about the origin of a bound on a symbolic size. `place` is PyTorch's own text for the origin.
std::string bound_origin(const std::string& place);

// Returns the text of code in which repeated layers of a model are shown once. Layers repeat if consecutive blocks of
// lines differ in numbers alone. A comment replaces the omitted layers, and names the lines of `file` that contain the
// omitted layers. Long function heads are written with one parameter on each line. `file` is the file that contains the
// whole text, from its line `first_line` on.
std::string folded(std::string_view text, std::string_view file, std::size_t first_line);

// Joins conditions that differ only in one index, if that index runs through consecutive numbers. For example,
// `blocks[0].heads == 4` to `blocks[23].heads == 4` become `blocks[0..23].heads == 4`. The joined condition takes the
// place of the first condition that it replaces.
std::vector<std::string> folded_conditions(std::vector<std::string> conditions);

}  // namespace depyf
