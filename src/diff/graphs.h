// Compares the captured graphs of two runs, and the operators that kernels fuse, by lines of the source.
#pragma once

#include <string>

#include "depyf/diff.h"
#include "diff/facts.h"

namespace depyf::diff {

// Appends a change for each line whose operators differ, and one for operators that compute another shape or type.
void append_graph_changes(const Facts& before, const Facts& after, Difference& result);

// Returns ", since layer_norm (model.py:9) is no longer fused with gelu (model.py:10)", or the opposite; empty if
// both runs compute the same operators together.
std::string fusion_reason(const Function& before, const Function& after, const Facts& facts);

}  // namespace depyf::diff
