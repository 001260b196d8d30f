// Lists the lines of source. The number of a line is its index in Lines::lines(), by which the panes of the page refer
// to the line.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "depyf/record.h"

namespace depyf::page {

inline constexpr int no_line = -1;

struct SourceLine {
  int file = 0;  // an index into Lines::files()
  int line = 0;  // counted from 1
  std::string text;  // the text of the line as the record quotes it; empty if the record does not quote it
};

class Lines {
 public:
  // Returns the number of the source line that `place` names, and assigns a new number if the line has no number yet.
  // Returns no_line if `place` names no file or no line.
  int number_of(const record::Place& place);
  // Returns the number of the line `line` of the file whose name without folders is `file_name`, or no_line if no
  // number was assigned to the source line.
  int find(std::string_view file_name, int line) const;
  // Returns the index of a file in `files()`, and adds the file if the list does not have it yet.
  int file_of(const std::string& path);

  const std::vector<SourceLine>& lines() const { return lines_; }
  const std::vector<std::string>& files() const { return files_; }

 private:
  std::vector<SourceLine> lines_;
  std::vector<std::string> files_;
  std::map<std::string, int, std::less<>> file_numbers_;
  std::map<std::pair<int, int>, int> numbers_;  // maps (file, line) to the number of the line
};

}  // namespace depyf::page
