// Writes the rows of a table of the costs of guards.
#pragma once

#include <string>
#include <vector>

#include "depyf/record.h"
#include "json/json.h"

namespace depyf::texts {

// Returns the rows for a GuardCosts object as JSON: first the total, and then the costs of each cache entry.
std::vector<std::string> guard_cost_rows(json::Value costs);

// Returns the rows about the time that a check of a compilation's guards takes: first the total, and then the largest
// parts of the total; no rows if the time is unknown.
std::vector<std::string> guard_time_rows(const record::Compilation& compilation);

// Returns the time that one check of a compilation's guards takes, in microseconds, as the text of a cell of a table;
// an empty text if the time is unknown.
std::string guard_time_cell(const record::Compilation& compilation);

}  // namespace depyf::texts
