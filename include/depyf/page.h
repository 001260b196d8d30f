// Writes the report: one HTML file that shows what a run of torch.compile did, and that needs no network and no server.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "depyf/diff.h"
#include "depyf/record.h"

namespace depyf {

// A text of a compilation that the page shows: the code that Dynamo generated, a graph, Inductor's IR or output code,
// or guards.
struct PageText {
  std::string stage;  // "code", "guards", or a key of record::stages() such as "captured" or "joint"
  std::string direction;  // "forward" or "backward"; empty if the stage has no direction
  std::string name;  // the name of the file, or of the record in the log
  std::string text;
};

// The texts of a process, as one list for each of its compilations.
using PageTexts = std::vector<std::vector<PageText>>;

// A function that returns the text of an artifact, or std::nullopt if the text cannot be read.
using ReadArtifact = std::function<std::optional<std::string>(const record::Artifact& artifact)>;

// Reads the texts that the page shows. If a compilation was traced several times, the graphs and output code of its
// earlier attempts are left out.
PageTexts page_texts(const record::Process& process, const ReadArtifact& read_artifact);

// A function that returns the content of a file with source code, or std::nullopt if the file cannot be read.
using ReadSource = std::function<std::optional<std::string>(const std::string& path)>;

// The differences between the run that the page shows and an earlier run.
struct PageChanges {
  diff::Difference difference;
  std::string before, after;  // the names of both runs
};

struct PageOptions {
  std::string command;  // the command that wrote the page, which the page states unless it is redacted
  bool is_redacted = false;  // true to leave out source text, paths, strings, numbers and the user's own names
  std::optional<PageChanges> changes = {};  // not shown if `is_redacted` is true, because the sentences quote lines
};

// Returns the page of a run whose graphs were read and linked. `texts` has an item for each process. The page contains
// a file of source only if the file still contains each line that the record quotes. If a quoted line has changed in
// the file, the page contains only the quoted lines.
std::string html_page(const record::Run& run, const std::vector<PageTexts>& texts, const ReadSource& read_source,
                      const PageOptions& options);

}  // namespace depyf
