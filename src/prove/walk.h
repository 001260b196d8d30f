// Two code objects walked in step.
#pragma once

#include <string>
#include <vector>

#include "depyf/prove.h"
#include "prove/equal.h"

namespace depyf {

// Not proved: with reason and place. `codes`: nested code objects that must be proved too.
Proof walk(const CodeObject& one, const CodeObject& two, std::vector<CodePair>& codes);

}  // namespace depyf
