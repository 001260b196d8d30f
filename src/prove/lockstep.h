// Proves quickly that two code objects have the same effects, if they match instruction by instruction.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/instruction.h"
#include "prove/equal.h"

namespace depyf {

// Returns true if one pass over both code objects, in step, shows that they have the same effects in the same order on
// every path. If the result is true, `codes` gets the pairs of nested code objects that must be proved, too. `steps`
// gets the number of steps that the pass took.
//
// If the result is false, the effects may still be the same, and the walk of walk.h must decide. The life times of
// values are not compared. Iterators that take two stack values (3.15) must have been rewritten in both code objects
// to take one stack value.
bool run_in_lockstep(const DecodedCode& one, const DecodedCode& two, std::vector<CodePair>& codes, std::int64_t& steps);

}  // namespace depyf
