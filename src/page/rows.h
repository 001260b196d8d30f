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
  int row = 0;  // the number of the row in the text, from 1
  std::string name;  // the name of the node or kernel; empty if the row has no node and no kernel
  std::vector<int> lines;  // the lines of source, as ascending indices into Lines::lines()
  std::string why;  // the reason why `lines` is empty; empty if `lines` is not empty
  int last = 0;  // the last row of the definition that begins at `row`; `row` if the definition is one row
};

// Returns the rows of one text of a compilation for which link() was called.
std::vector<Row> rows_of(const PageText& text, const record::Compilation& compilation, Lines& lines);

}  // namespace depyf::page
