// Writes tables.md: the costs of each line of source, from the graphs and the output code of a compilation.
#pragma once

#include <string>

#include "depyf/record.h"

namespace depyf::texts {

// Returns tables of library calls and fallbacks by line, of copies and changes of layout by line, of tensors that are
// saved for the backward, and of the graphs on both sides of each break. The text is empty if no compilation of the
// process has a graph.
std::string tables(const record::Process& process);

// Returns the tables of one compilation without a heading; an empty text if all tables would be empty.
std::string tables_of(const record::Compilation& compilation);

}  // namespace depyf::texts
