// Texts about a run for people.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf {

// What the run did, in sentences, the dearest first: functions, breaks, recompilations, seconds, differences between ranks.
// Text of the log is shown without control characters.
std::string summary(const record::Run& run);

// A text of a log that becomes a file.
struct LogText {
  std::string kind;  // as that of the file in a dump, such as Joint_graph; "guards"
  std::string direction;  // "forward", "backward"; empty where it has no meaning
  std::string text;
};
using LogTexts = std::vector<std::vector<LogText>>;  // of a process, by compilation

// The files that tell of a dump or of logs, by name: index.md, which is one screen, and what it leads to: a file for each
// compilation, tables.md if graphs were read, provenance.md with what became of captured nodes, and the texts of logs. Each run
// of a dump is a process of `run`, the last one the latest. `texts` has an item for each process, or is empty.
std::map<std::string, std::string> index_files(const record::Run& run, const std::vector<LogTexts>& texts = {});

// For each line of source the kernels that it became, forward and backward, and how many calls have a line. Empty if nothing
// was linked.
std::string links_text(const record::Run& run);

// A compilation in sentences.
struct Words {
  std::string headline;  // of a function that was not compiled: the function, what runs, and the cause
  std::vector<std::string> details;  // the lines that follow it: the rest of an error, what used a limit up, hints
  std::vector<std::string> reasons;  // why the function was compiled again, and where its graph ends
  std::string deciding;  // the reason against the nearest compilation that was there, and how many more there are
  std::vector<std::string> failures;  // why each of those does not serve the call
  std::vector<std::string> symbols;  // the sizes that the graph leaves open
  std::vector<std::string> at_run_time;  // what is known only when the graph runs
  std::vector<std::string> places;  // of each graph break: PyTorch's own line first if the break is there
  std::vector<std::string> breaks;  // each graph break in one line: where it is, the reason, the explanation
  std::vector<std::string> guards;  // each guard that failed in one line, without what follows from it
};

// `title`: what the function is called; its own title if empty.
Words words_of(const record::Compilation& compilation, const std::string& title);

// Where a bound on a size comes from, from PyTorch's words for the place.
std::string bound_origin(const std::string& place);

// The text of code without the layers of a model that are the same but for numbers: blocks of lines that follow each other
// and differ in numbers alone stand once, with a comment that says where the others are. Each line of it, and a long head of a
// function with a parameter in each line, is one of the text. `file` is the file that has all of it, from its line
// `first_line` on.
std::string folded(std::string_view text, std::string_view file, std::size_t first_line);

// Conditions that differ in one index alone, which runs through numbers without a gap, as one: `blocks[0].heads == 4` to
// `blocks[23].heads == 4` become `blocks[0..23].heads == 4`. They stand where the first of them stood.
std::vector<std::string> folded_conditions(std::vector<std::string> conditions);

}  // namespace depyf
