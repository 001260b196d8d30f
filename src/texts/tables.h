// tables.md: what a compilation costs at which line, from its graphs and its output code.
#pragma once

#include <string>

#include "depyf/record.h"

namespace depyf::texts {

// Library calls and fallbacks by line, copies and changes of layout by line, tensors that are saved for the backward, and the
// graphs on both sides of each break. Empty if no compilation of the process has a graph.
std::string tables(const record::Process& process);

// Returns the tables of one compilation without a heading; empty if there is nothing to show.
std::string tables_of(const record::Compilation& compilation);

}  // namespace depyf::texts
