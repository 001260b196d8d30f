// Computes the times of the parts of compilations, and the times that possible changes would save.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf {

// Returns the costs of compiling as JSON (docs/costs.md describes the members). `log` is a TORCH_TRACE log. `measured`
// is empty, or a JSON object with data that a log lacks: its member `lines` has the time for which Dynamo traced each
// line of source, and its member `missed_keys` has the differences between the key of a cache miss and the nearest
// entry of the cache.
std::string compile_costs(std::string_view log, std::string_view measured);

// Returns the costs of compiling as JSON for a process whose log and graphs have been read already.
std::string compile_costs(const record::Process& process, std::string_view measured);

// Returns the result of compile_costs() as text for readers.
std::string compile_costs_text(std::string_view costs);

// Returns lines of Markdown about the compile time of a process; no lines if the record has no timeline.
std::vector<std::string> compile_time_in_markdown(const record::Process& process);

}  // namespace depyf
