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
  std::string stage;  // "code", "guards", "captured", "joint", ...: the keys of `stages` in src/page/texts.cpp
  std::string direction;  // "forward" or "backward"; empty where it has no meaning
  std::string name;  // the name of the file, or of the log's record
  std::string text;
};

// The texts of a process, as one list for each of its compilations.
using PageTexts = std::vector<std::vector<PageText>>;

// A function that returns the text of an artifact, or nothing if it cannot be read.
using ReadArtifact = std::function<std::optional<std::string>(const record::Artifact& artifact)>;

// Reads the texts that the page shows. If a compilation was traced several times, the graphs and output code of its
// earlier attempts are left out.
PageTexts page_texts(const record::Process& process, const ReadArtifact& read_artifact);

// A function that returns the content of a file with source code, or nothing if it cannot be read.
using ReadSource = std::function<std::optional<std::string>(const std::string& path)>;

// The differences between the run that the page shows and an earlier run.
struct PageChanges {
  diff::Difference difference;
  std::string before, after;  // the names of both runs
};

struct PageOptions {
  std::string command;  // the command that wrote the page, which the page states unless it is redacted
  bool is_redacted = false;  // leave out source text, paths, strings, numbers, and names that are the user's own
  std::optional<PageChanges> changes = {};  // not shown if `is_redacted`, because the sentences quote lines and values
};

// Returns the page of a run whose graphs were read and linked. `texts` has an item for each process. A file of source
// is shown only if the lines that the record quotes are still the lines of the file; otherwise only the quoted lines
// are shown.
std::string html_page(const record::Run& run, const std::vector<PageTexts>& texts, const ReadSource& read_source,
                      const PageOptions& options);

}  // namespace depyf
