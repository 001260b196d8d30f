// Two code objects walked in step.
#pragma once

#include <string>
#include <vector>

#include "depyf/prove.h"
#include "prove/equal.h"

namespace depyf {

// Not proved: with reason and place. Values that the second side keeps too long are only listed. `codes`: nested code
// objects that must be proved too.
Proof walk(const CodeObject& one, const CodeObject& two, const ProofOptions& options, std::vector<CodePair>& codes);

}  // namespace depyf
