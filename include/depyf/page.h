// The report: what a run of torch.compile did as one HTML file, which needs no network and no server.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "depyf/record.h"

namespace depyf {

// A text of a compilation that the page shows: the code that Dynamo made, a graph, Inductor's IR or its output code, guards.
struct PageText {
  std::string stage;  // "code", "guards", "captured", "joint", ...: the keys of `stages` in src/page/texts.cpp
  std::string direction;  // "forward", "backward"; empty where it has no meaning
  std::string name;  // of the file or of the log's record
  std::string text;
};

// The texts of a process, a list for each of its compilations.
using PageTexts = std::vector<std::vector<PageText>>;

// Returns the text of an artifact; nothing if it cannot be read.
using ReadArtifact = std::function<std::optional<std::string>(const record::Artifact& artifact)>;

// Reads the texts that the page shows. Of a compilation that was traced several times the last attempt counts.
PageTexts page_texts(const record::Process& process, const ReadArtifact& read_artifact);

// Returns the content of a file with source code; nothing if it cannot be read.
using ReadSource = std::function<std::optional<std::string>(const std::string& path)>;

struct PageOptions {
  std::string command;  // the command that wrote the page, as the page states it; a redacted page does not state it
  bool is_redacted = false;  // without source text, paths, strings, numbers, and names that are the user's own
};

// The page of a run whose graphs were read and linked. `texts` has an item for each process. A file of source is shown only if
// the lines that the record quotes from it are the lines that it has now; else the quoted lines are shown alone.
std::string html_page(const record::Run& run, const std::vector<PageTexts>& texts, const ReadSource& read_source,
                      const PageOptions& options);

}  // namespace depyf
