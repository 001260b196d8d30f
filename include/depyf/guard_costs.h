// Formats the measured costs of a function's guards as text.
#pragma once

#include <string>
#include <string_view>

namespace depyf {

// Returns the text of the GuardCosts object that `depyf.guard_costs` returns. `costs` is the data of a GuardCosts
// object as JSON.
std::string guard_costs_text(std::string_view costs);

}  // namespace depyf
