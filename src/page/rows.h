// Connects the rows of a text with lines of source.
#pragma once

#include <string>
#include <vector>

#include "depyf/page.h"
#include "depyf/record.h"
#include "page/lines.h"

namespace depyf::page {

// A row of a text that defines a node or a kernel, calls a kernel, or names a line of source.
struct Row {
  int row = 0;  // from 1
  std::string name;  // the name of the node or kernel; empty if the row has neither
  std::vector<int> lines;  // numbers of lines of source, in ascending order
  std::string why;  // the reason why `lines` is empty; empty if there is a line
  int last = 0;  // the last row of the definition that begins here; `row` itself if it is one row
};

// Returns the rows of one text of a compilation for which link() was called.
std::vector<Row> rows_of(const PageText& text, const record::Compilation& compilation, Lines& lines);

}  // namespace depyf::page
