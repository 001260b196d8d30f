// What training graphs keep for their backward, and the plans of their output code.
#pragma once

#include <string>
#include <string_view>

namespace depyf {

// Returns the costs as JSON (docs/costs.md has the members) of what `depyf.memory_costs` saw, as JSON.
std::string memory_costs(std::string_view seen);

// Returns the text for readers, of what memory_costs() returned.
std::string memory_costs_text(std::string_view costs);

}  // namespace depyf
