// Writes the rows of a table of the costs of guards.
#pragma once

#include <string>
#include <vector>

#include "depyf/record.h"
#include "json/json.h"

namespace depyf::texts {

// Returns the rows about the JSON of a GuardCosts: first the total, and then the costs of each cache entry.
std::vector<std::string> guard_cost_rows(json::Value costs);

// Returns the rows about the time that a check of a compilation's guards takes: first the total, and then its largest
// parts; no rows if the time is unknown.
std::vector<std::string> guard_time_rows(const record::Compilation& compilation);

// Returns the time of a check for a table, in microseconds; empty if it is unknown.
std::string guard_time_cell(const record::Compilation& compilation);

}  // namespace depyf::texts
