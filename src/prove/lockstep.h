// A quick proof for two code objects that have the same effects instruction by instruction.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/instruction.h"
#include "prove/equal.h"

namespace depyf {

// Returns true if both sides make the same effects in the same order on every way, shown by one pass over both in step. Then
// `codes` has the nested code objects that must be proved too, and `steps` what the pass took. False says nothing: the walk of
// walk.h decides. Life times are not looked at. Pair iterators of 3.15 must have been united in both.
bool run_in_lockstep(const DecodedCode& one, const DecodedCode& two, std::vector<CodePair>& codes, std::int64_t& steps);

}  // namespace depyf
