// Writes the rows of a table that shows what guards cost.
#pragma once

#include <string>
#include <vector>

#include "depyf/record.h"
#include "json/json.h"

namespace depyf::texts {

// Returns the rows of a GuardCosts, the whole first and then its entries.
std::vector<std::string> guard_cost_rows(json::Value costs);

// Returns the rows on what a check of a compilation's guards takes, the whole first and then its largest parts; none if
// it is unknown.
std::vector<std::string> guard_time_rows(const record::Compilation& compilation);

// Returns the time of a check for a table, in microseconds; empty if it is unknown.
std::string guard_time_cell(const record::Compilation& compilation);

}  // namespace depyf::texts
