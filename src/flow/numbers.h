// The numbers of the parts of a control flow graph.
#pragma once

#include "support/table.h"

namespace depyf {

// The number of a basic block, and of the node that it is lifted into.
using BlockIndex = Index<struct BlockKind>;
// The number of a region.
using RegionIndex = Index<struct RegionKind>;

}  // namespace depyf
