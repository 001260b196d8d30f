// Formats the measured costs of a function's guards as text.
#pragma once

#include <string>
#include <string_view>

namespace depyf {

// Returns the text that `depyf.guard_costs` shows. `costs` is the data of a GuardCosts object as JSON.
std::string guard_costs_text(std::string_view costs);

}  // namespace depyf
