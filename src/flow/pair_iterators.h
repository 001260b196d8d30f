#pragma once

#include "decode/instruction.h"
#include "support/result.h"

namespace depyf {

// Rewrites `decoded` (3.15 and later) as if an iterator took one place on the stack. From 3.15 on, an iterator takes
// two places, the second for an index. Returns true, or an error if an instruction moves an index away from its
// iterator.
Result<bool> unite_pair_iterators(DecodedCode& decoded);

}  // namespace depyf
