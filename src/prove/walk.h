// Two code objects walked in step.
#pragma once

#include <string>
#include <vector>

#include "decode/instruction.h"
#include "depyf/prove.h"
#include "prove/equal.h"
#include "support/function_ref.h"
#include "support/result.h"

namespace depyf {

// Gives the instructions of a code object.
using Decoder = FunctionRef<Result<DecodedCode>(const CodeObject&)>;

// Not proved: with reason and place. Values that the second side keeps too long are only listed. `codes`: nested code
// objects that must be proved too. `decoder`: of the second side.
Proof walk(const CodeObject& one, const CodeObject& two, const ProofOptions& options, std::vector<CodePair>& codes,
           Decoder decoder);

}  // namespace depyf
