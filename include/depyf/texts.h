// Texts about a run for people.
#pragma once

#include <string>

#include "depyf/record.h"

namespace depyf {

// What the run did, in sentences, the dearest first: functions, breaks, recompilations, seconds, differences between ranks.
// Text of the log is shown without control characters.
std::string summary(const record::Run& run);

// For each line of source the kernels that it became, forward and backward, and how many calls have a line. Empty if nothing
// was linked.
std::string links_text(const record::Run& run);

}  // namespace depyf
