// Reads logs, dumps and records from disk, for the command depyf-report and for the extension module.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "depyf/page.h"
#include "depyf/record.h"

namespace depyf::report {

struct Reading {
  record::Run run;  // The processes are sorted by rank.
  std::vector<PageTexts> texts;  // the texts of each process; empty unless the caller requested texts
  std::vector<std::string> errors;  // The paths that could not be read, each with the reason.
  bool is_whole = true;  // True if every path was read and no content was damaged.
};

// Reads logs, directories of logs, dumps and records. If `with_links` is set, the graphs and the output code are read
// and linked too.
Reading read(const std::vector<std::string>& paths, bool with_links, bool with_texts);

// Reads the graphs of ranks whose compilations differ, so that the summary can name the node or the collective that
// differs.
void read_graphs_of_different_ranks(record::Run& run);

// Keeps only the last run of each dump, with its texts, and adds a note about the number of runs.
void keep_last_runs(Reading& reading);

// Drops the processes that earlier runs of `depyf run` recorded in a directory, with their texts, and adds a note about
// the dropped runs to the processes of the last run. A page shows source files in their current state, but an earlier
// run may have executed other source.
void drop_earlier_programs(Reading& reading);

// Returns the content of a file; nothing if the file cannot be read.
std::optional<std::string> content_of(const std::string& path);

// Writes a file under a temporary name and renames it, so that an incomplete file never has the name `path`. A link
// at `path` is replaced, and its target is not changed. Returns an error message; empty if there was no error.
std::string write_file(const std::string& path, const std::string& text);

}  // namespace depyf::report
