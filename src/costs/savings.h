// Predicts how much time of compiling changes of the program would save.
#pragma once

#include <vector>

#include "costs/compile_time.h"

namespace depyf::costs {

// Returns the savings, the largest first. Savings by layers and lines need the captured graphs and the modules of their
// nodes; without graphs in the record they are left out. `time` has all members set except `savings`.
std::vector<Saving> savings_of(const record::Process& process, const CompileTime& time);

}  // namespace depyf::costs
