// Computes how the time of calls of compiled functions was spent.
#pragma once

#include <string>
#include <string_view>

namespace depyf {

// Returns the costs of calls as JSON (docs/costs.md describes the members). `log` is the TORCH_TRACE log of the
// compilations during the measurement; `measured` is the JSON that `depyf.profile` recorded.
std::string run_costs(std::string_view log, std::string_view measured);

// Returns the result of run_costs() as text for readers.
std::string run_costs_text(std::string_view costs);

// Returns the times of source lines in the result of run_costs() as a record (see docs/record.md).
std::string run_costs_record(std::string_view costs);

}  // namespace depyf
