// Predicts the time of compiling that changes of the program would save.
#pragma once

#include <vector>

#include "costs/compile_time.h"

namespace depyf::costs {

// Returns the savings, the largest first. Savings by layers and lines need the captured graphs and the modules of
// their nodes. Savings by layers and lines are left out if the record has no graphs. `time` has all members set
// except `savings`.
std::vector<Saving> savings_of(const record::Process& process, const CompileTime& time);

}  // namespace depyf::costs
