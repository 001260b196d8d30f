// Writes the rows of a table that shows what guards cost.
#pragma once

#include <string>
#include <vector>

#include "json/json.h"

namespace depyf::texts {

// Returns the rows of a GuardCosts, the whole first and then its entries.
std::vector<std::string> guard_cost_rows(json::Value costs);

}  // namespace depyf::texts
