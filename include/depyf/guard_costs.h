// What the guards of a function cost, as text.
#pragma once

#include <string>
#include <string_view>

namespace depyf {

// Returns the text of `depyf.guard_costs`, of the plain data of a GuardCosts as JSON.
std::string guard_costs_text(std::string_view costs);

}  // namespace depyf
