// Writes the page of one compilation: the reason for the compilation, the conditions for using it again, and its files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "depyf/record.h"
#include "depyf/texts.h"

namespace depyf::texts {

// Returns a link such as "[index.md](index.md)".
std::string file_link(const std::string& file);

// Returns the ids as text, such as "0/0, 0/1". A long list of ids is reduced to the first two and the last.
std::string joined_ids(const std::vector<std::string>& ids);

// Returns the sentence about a function that was not compiled, which begins with the function's title.
std::string headline_in_markdown(const record::Compilation& compilation);

// Returns a description of a text in a log, with its size and its offset in the log.
std::string in_log(const record::Artifact& artifact, const std::string& log);

// Writes the pages of the compilations of one process.
class CompilationPages {
 public:
  // `log` is the path of the log; it is empty for a dump, whose texts are files already.
  CompilationPages(const record::Process& process, std::string log);

  // Returns a map from the names of files to their texts: the page, whose name is `file`, and the texts of a log.
  std::map<std::string, std::string> files(const record::Compilation& compilation, const std::string& file,
                                           const std::vector<LogText>& texts) const;

 private:
  std::string resume_calls(const record::Compilation& compilation) const;

  std::string log_;
  std::map<std::string, std::vector<std::string>> resumed_;  // maps a resume function to the ids of its compilations
};

}  // namespace depyf::texts
