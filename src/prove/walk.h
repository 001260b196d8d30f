// Walks through two code objects in step.
#pragma once

#include <string>
#include <vector>

#include "decode/instruction.h"
#include "depyf/prove.h"
#include "prove/equal.h"
#include "support/function_ref.h"
#include "support/result.h"

namespace depyf {

// Returns the instructions of a code object.
using Decoder = FunctionRef<Result<DecodedCode>(const CodeObject&)>;

// Proves that the two code objects have the same effects. If the proof fails, the result states the reason and the
// place. Values that the second side keeps too long are listed, but do not fail the proof. Nested code objects that
// must be proved as well are appended to `codes`. `decoder` decodes the second side.
Proof walk(const CodeObject& one, const CodeObject& two, const ProofOptions& options, std::vector<CodePair>& codes,
           Decoder decoder);

}  // namespace depyf
