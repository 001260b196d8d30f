// Finds where loops end in the source; see loop_ends.cpp.
#pragma once

#include "structure/outline.h"
#include "structure/place.h"

namespace depyf {

// Returns the node behind the loop, to which `break` leads; -1 if no node is behind the loop. `exhausted` is the node
// to which control goes when the iterator is exhausted or the test fails; -1 for `while True`.
NodeIndex after_loop(const Outline& outline, const Claims& claims, NodeIndex header, NodeIndex exhausted,
                     const Place& place);

// Returns the node behind a for loop whose body has no path back to the header, because each path through the body ends
// in `break` or leaves the function; -1 if `exhausted` is -1. `body` and `exhausted` are the first node of the body and
// the node to which control goes when the iterator is exhausted.
NodeIndex after_single_pass(const Outline& outline, NodeIndex header, NodeIndex body, NodeIndex exhausted,
                            const Place& place);

// True if some path leads from the node `from` to the node `to` without passing a node that `place` leads to
// (Place::leads_to). Only the last edge of the path may be a back edge.
bool reaches(const Outline& outline, NodeIndex from, NodeIndex to, const Place& place);

// True if the path out of a loop through `exit` leads to `later`, to which `node` leads, but not to `node`. Then the end of
// the loop is not `node`.
bool goes_round(const Outline& outline, NodeIndex node, NodeIndex later, const Place& place, NodeIndex exit);

}  // namespace depyf
