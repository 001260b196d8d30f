// Defines the types of the numbers of blocks and regions in a control flow graph.
#pragma once

#include "support/table.h"

namespace depyf {

// The number of a basic block, and of the node of statements into which the block is lifted.
using BlockIndex = Index<struct BlockKind>;
// The number of a region.
using RegionIndex = Index<struct RegionKind>;

}  // namespace depyf
