// Logs and dumps on disk: what the command depyf-report and the extension read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "depyf/page.h"
#include "depyf/record.h"

namespace depyf::report {

struct Reading {
  record::Run run;  // the processes in the order of their ranks
  std::vector<PageTexts> texts;  // of each process; empty unless they were asked for
  std::vector<std::string> errors;  // paths that could not be read, each with the reason
  bool is_whole = true;  // whether every path was read, and nothing in it was damaged
};

// Reads logs, directories of logs and dumps. `with_links`: the graphs and the output code too, linked.
Reading read(const std::vector<std::string>& paths, bool with_links, bool with_texts);

// Reads the graphs of ranks that differ, so that the summary can name the node or the collective in which they do.
void read_graphs_of_different_ranks(record::Run& run);

// Keeps only the last run of each dump, and adds a note on how many runs there are.
void keep_last_runs(record::Run& run);

// The content of a file; nothing if it cannot be read.
std::optional<std::string> content_of(const std::string& path);

// Writes a file under another name first, so that it is never half written, and a link is replaced, not followed. Returns what
// went wrong; empty if nothing did.
std::string write_file(const std::string& path, const std::string& text);

}  // namespace depyf::report
