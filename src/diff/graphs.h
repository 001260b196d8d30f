// Compares the captured graphs of two runs, and the operators that kernels fuse, by lines of the source.
#pragma once

#include <string>

#include "depyf/diff.h"
#include "diff/facts.h"

namespace depyf::diff {

// Appends a change for each line whose operators differ between the two runs, and one change for all operators whose
// results have a different shape or type in the second run.
void append_graph_changes(const Facts& before, const Facts& after, Difference& result);

// Returns a clause about operators whose fusion ended, such as ", because layer_norm (model.py:9) is no longer fused
// with gelu (model.py:10)", or about new fusions. Returns an empty text if both runs fuse the same operators.
std::string fusion_reason(const Function& before, const Function& after, const Facts& facts);

}  // namespace depyf::diff
