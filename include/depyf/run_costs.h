// Where the time of calls of compiled functions went.
#pragma once

#include <string>
#include <string_view>

namespace depyf {

// Returns the costs as JSON (docs/costs.md has the members). `log` is the TORCH_TRACE log of what was compiled meanwhile;
// `measured` is what `depyf.profile` recorded, as JSON.
std::string run_costs(std::string_view log, std::string_view measured);

// Returns the text for readers, of what run_costs() returned.
std::string run_costs_text(std::string_view costs);

// Returns the times of lines, of what run_costs() returned, as a record (docs/record.md).
std::string run_costs_record(std::string_view costs);

}  // namespace depyf
