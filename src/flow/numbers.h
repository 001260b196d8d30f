// Defines the types of the indices of blocks and regions in a control flow graph.
#pragma once

#include "support/table.h"

namespace depyf {

// The index of a basic block in `Cfg::blocks`, and of the node of statements into which the block is lifted.
using BlockIndex = Index<struct BlockKind>;
// The index of a region in `Cfg::regions`.
using RegionIndex = Index<struct RegionKind>;

}  // namespace depyf
