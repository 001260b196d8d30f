// Numbers for lines of source: the panes of the page refer to a line by its number.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "depyf/record.h"

namespace depyf::page {

inline constexpr int no_line = -1;

struct SourceLine {
  int file = 0;  // index into Lines::files()
  int line = 0;  // from 1
  std::string text;  // as the record quotes it; empty if it does not
};

class Lines {
 public:
  // The number of the line of a place; no_line if the place names no file or no line.
  int number_of(const record::Place& place);
  // The same for lines that are known already.
  int find(std::string_view file_name, int line) const;
  // The number of a file.
  int file_of(const std::string& path);

  const std::vector<SourceLine>& lines() const { return lines_; }
  const std::vector<std::string>& files() const { return files_; }

 private:
  std::vector<SourceLine> lines_;
  std::vector<std::string> files_;
  std::map<std::string, int, std::less<>> file_numbers_;
  std::map<std::pair<int, int>, int> numbers_;  // by file and line
};

}  // namespace depyf::page
