// Connects the rows of a text with lines of source.
#pragma once

#include <string>
#include <vector>

#include "depyf/page.h"
#include "depyf/record.h"
#include "page/lines.h"

namespace depyf::page {

// A row of a text. It stands for a node, for a kernel or a call of a kernel, or it names a line of source.
struct Row {
  int row = 0;  // from 1
  std::string name;  // of the node or the kernel; empty: neither
  std::vector<int> lines;  // numbers of lines of source, in ascending order
  std::string why;  // why there is no line; empty if there is one
  int last = 0;  // the last row of the definition that begins here; `row` itself if it is one row
};

// The rows of one text of a compilation that was linked.
std::vector<Row> rows_of(const PageText& text, const record::Compilation& compilation, Lines& lines);

}  // namespace depyf::page
