// Where the time of compiling went, and what changes would save.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf {

// Returns the costs as JSON (docs/costs.md has the members). `log` is a TORCH_TRACE log; `measured` is empty, or a JSON object
// with what a log does not have: `lines`, the time that Dynamo traced each line of source, and `missed_keys`, what differs
// from the nearest entry of a cache that was asked in vain.
std::string compile_costs(std::string_view log, std::string_view measured);

// The same of a process that was read already, with its graphs.
std::string compile_costs(const record::Process& process, std::string_view measured);

// Returns the text for readers, of what compile_costs() returned.
std::string compile_costs_text(std::string_view costs);

// Returns lines of Markdown about the time of a process; none if the record has no timeline.
std::vector<std::string> compile_time_in_markdown(const record::Process& process);

}  // namespace depyf
