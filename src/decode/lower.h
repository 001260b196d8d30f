// CPython's instructions to version-neutral ones.
#pragma once

#include "decode/instruction.h"
#include "decode/raw.h"
#include "dialect/dialect.h"
#include "support/result.h"

namespace depyf {

// Appends to `decoded.instructions`; the code and localsplus of `decoded` must be set. Jump targets are left as indices
// into `raws`. Returns for each of `raws` the index of the first operation that it, or a later one, was translated
// into.
Result<std::vector<std::int32_t>> lower(const std::vector<RawInstruction>& raws, DecodedCode& decoded);

}  // namespace depyf
