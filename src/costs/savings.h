// Predicts what changes of the program would save of the time of compiling.
#pragma once

#include <vector>

#include "costs/compile_time.h"

namespace depyf::costs {

// Returns the savings, the largest first. Layers and lines need the captured graphs and their nodes' modules; without graphs in
// the record they are left out. `time` has everything but the savings.
std::vector<Saving> savings_of(const record::Process& process, const CompileTime& time);

}  // namespace depyf::costs
