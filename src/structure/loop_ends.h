// Where loops end; see loop_ends.cpp.
#pragma once

#include "structure/outline.h"
#include "structure/place.h"

namespace depyf {

// The node that stands after the loop, to which `break` goes; -1: none. The else clause starts at `exhausted`.
int after_loop(const Outline& outline, const Claims& claims, int header, int exhausted, const Place& place);

// The node that stands after a for loop whose body never goes round: every way through it ends in `break`, or leaves for good.
int after_single_pass(const Outline& outline, int header, int body, int exhausted, const Place& place);

// True if control gets from one node to the other without going round a loop, or past the places that surround `place`.
bool reaches(const Outline& outline, int from, int to, const Place& place);

}  // namespace depyf
