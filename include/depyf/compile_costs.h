// Where the time of compiling went, and what changes would save.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf {

// Returns the costs as JSON (docs/costs.md has the members). `log` is a TORCH_TRACE log; `lines` is a JSON list of the time
// that Dynamo traced each line of source, or empty.
std::string compile_costs(std::string_view log, std::string_view lines);

// The same of a process that was read already, with its graphs.
std::string compile_costs(const record::Process& process, std::string_view lines);

// Returns the text for readers, of what compile_costs() returned.
std::string compile_costs_text(std::string_view costs);

// Returns lines of Markdown about the time of a process; none if the record has no timeline.
std::vector<std::string> compile_time_in_markdown(const record::Process& process);

}  // namespace depyf
