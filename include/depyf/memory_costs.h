// Computes the memory that training graphs save for their backward pass, and the memory plans of their output code.
#pragma once

#include <string>
#include <string_view>

namespace depyf {

// Returns the costs of memory as JSON (docs/costs.md describes the members). `seen` is the JSON that
// `depyf.memory_costs` collected.
std::string memory_costs(std::string_view seen);

// Returns the result of memory_costs() as text for readers.
std::string memory_costs_text(std::string_view costs);

}  // namespace depyf
