#pragma once

#include "decode/instruction.h"
#include "support/result.h"

namespace depyf {

// From 3.15 on an iterator takes two places on the stack, the second for an index. Rewrites `decoded` as if it took one,
// as before. An error where something but a loop or an await handles the second by itself.
Result<bool> unite_pair_iterators(DecodedCode& decoded);

}  // namespace depyf
