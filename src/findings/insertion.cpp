#include "findings/insertion.h"

#include <algorithm>
#include <vector>

#include "support/words.h"

namespace depyf::findings {
namespace {

// Reads a Python file line by line, to determine which lines begin a statement.
class Lines {
 public:
  // Reads a line, and returns true if a statement begins in the following line. No statement begins after a line that
  // ends within a string, within brackets or with a backslash.
  bool ends_statement(std::string_view line) {
    bool is_continued = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
      const char c = line[at];
      is_continued = false;
      if (c == '\\') {
        is_continued = at + 1 == line.size() || line.substr(at + 1) == "\r";
        ++at;
      } else if (!quotes_.empty()) {
        if (!line.substr(at).starts_with(quotes_)) continue;
        at += quotes_.size() - 1;
        quotes_ = {};
      } else if (c == '#') {
        break;
      } else if (c == '"' || c == '\'') {
        const bool is_triple = line.substr(at, 3) == std::string_view(c == '"' ? "\"\"\"" : "'''");
        quotes_ = line.substr(at, is_triple ? 3 : 1);
        at += quotes_.size() - 1;
      } else if (c == '(' || c == '[' || c == '{') {
        ++brackets_;
      } else if (c == ')' || c == ']' || c == '}') {
        brackets_ = std::max(brackets_ - 1, 0);
      }
    }
    if (quotes_.size() == 1 && !is_continued) quotes_ = {};  // only a triple-quoted string continues on the next line
    return quotes_.empty() && brackets_ == 0 && !is_continued;
  }

 private:
  std::string_view quotes_;  // the quotes of the string that is open at the end of the line; empty if no string is open
  int brackets_ = 0;  // the number of open brackets
};

// True for `import torch`, `import torch.nn as nn`, `from torch import nn` and the like.
bool imports_torch(std::string_view line) {
  for (const std::string_view start : {"import torch", "from torch"})
    if (line.starts_with(start) && (line.size() == start.size() || !is_word(line[start.size()]))) return true;
  return false;
}

}  // namespace

std::optional<int> line_behind_import(std::string_view source) {
  Lines lines;
  bool begins = true, is_inside = false;
  int number = 0;
  for (const std::string_view line : lines_of(source)) {
    ++number;
    is_inside = is_inside || (begins && imports_torch(line));
    begins = lines.ends_statement(line);
    if (is_inside && begins) return number + 1;
  }
  return std::nullopt;
}

}  // namespace depyf::findings
