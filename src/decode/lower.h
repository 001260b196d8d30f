// CPython's instructions to version-neutral ones.
#pragma once

#include "decode/instruction.h"
#include "decode/raw.h"
#include "dialect/dialect.h"
#include "support/result.h"

namespace depyf {

// Appends to `decoded.instructions`, whose code and localsplus are set. Targets of jumps are left as indices into
// `raws`. Returns for each of `raws` the index of the first instruction lowered from it or from a later one.
Result<std::vector<std::int32_t>> lower(const std::vector<RawInstruction>& raws, DecodedCode& decoded);

}  // namespace depyf
