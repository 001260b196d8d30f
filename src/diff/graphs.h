// What differs in the captured graphs and in what kernels compute together, by line of source.
#pragma once

#include <string>

#include "depyf/diff.h"
#include "diff/facts.h"

namespace depyf::diff {

// Appends a change for each line whose operators differ, and for what the operators compute in another shape or type.
void append_graph_changes(const Facts& before, const Facts& after, Difference& result);

// Returns ", since layer_norm (model.py:9) is no longer fused with gelu (model.py:10)", or the opposite; empty if the same
// operators are computed together.
std::string fusion_reason(const Facts& before, const Facts& after);

}  // namespace depyf::diff
