// From a line of source to the kernels that it became, forward and backward, and back.
#pragma once

#include "depyf/record.h"

namespace depyf {

// Links the graphs and the output code of a compilation (read_graphs): fills the captured nodes, lines and nodes of each
// call, and the chains. What PyTorch recorded is taken as it is (provenance tracking, comments in the output code). For the
// rest the graphs are compared as data flow, and the evidence of a call says so. Where a link is missing the reason is given.
void link(record::Compilation& compilation);

}  // namespace depyf
