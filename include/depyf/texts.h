// Writes texts about a run, for readers.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf {

// Returns what the run did in sentences, the most expensive first: functions, graph breaks, recompilations, seconds,
// and differences between ranks. Control characters in texts of the log are left out.
std::string summary(const record::Run& run);

// A text of a log that becomes a file.
struct LogText {
  std::string kind;  // as that of the file in a dump, such as Joint_graph; "guards"
  std::string direction;  // "forward", "backward"; empty where it has no meaning
  std::string text;
};
// The texts of one process, as a list for each compilation.
using LogTexts = std::vector<std::vector<LogText>>;

// Returns the files that describe a dump or logs, by name. index.md fits on one screen and leads to the others: a file
// for each compilation, tables.md if graphs were read, provenance.md with the results of captured nodes, and the texts
// of logs. Each run of a dump is a process of `run`, the latest one last. `texts` has an item for each process, or is
// empty.
std::map<std::string, std::string> index_files(const record::Run& run, const std::vector<LogTexts>& texts = {});

// Returns, for each line of source, the kernels that it became, forward and backward, and how many calls have a line.
// The result is empty if nothing was linked.
std::string links_text(const record::Run& run);

// A compilation in sentences.
struct Words {
  std::string headline;  // for a function that was not compiled: the function, what runs, and the cause
  std::vector<std::string> details;  // the lines after it: the rest of an error, what used a limit up, hints
  std::vector<std::string> reasons;  // why the function was compiled again, and where its graph ends
  std::string deciding;  // the reason against the nearest earlier compilation, and how many more there are
  std::vector<std::string> failures;  // why each earlier compilation does not serve the call
  std::vector<std::string> symbols;  // the sizes that the graph leaves open
  std::vector<std::string> at_run_time;  // the values that are known only when the graph runs
  std::vector<std::string> places;  // of each graph break; PyTorch's own line comes first if the break is there
  std::vector<std::string> breaks;  // each graph break in one line: its place, the reason, the explanation
  std::vector<std::string> guards;  // each failed guard in one line, without its consequences
};

// Returns the compilation in sentences. `title` is the name for the function; an empty title means the compilation's
// own.
Words words_of(const record::Compilation& compilation, const std::string& title);

// Returns where a bound on a size comes from, given PyTorch's words for the place.
std::string bound_origin(const std::string& place);

// Returns the text of code in which repeated layers of a model are shown once. Layers repeat if consecutive blocks of
// lines differ in numbers alone. A comment says where the other layers are. Each line of the result is a line of the
// text, and so is a long function head with one parameter in each line. `file` is the file that holds the whole text,
// from its line `first_line` on.
std::string folded(std::string_view text, std::string_view file, std::size_t first_line);

// Joins conditions that differ only in one index, if that index runs through consecutive numbers. For example,
// `blocks[0].heads == 4` to `blocks[23].heads == 4` become `blocks[0..23].heads == 4`. The joined condition takes the
// place of the first one.
std::vector<std::string> folded_conditions(std::vector<std::string> conditions);

}  // namespace depyf
