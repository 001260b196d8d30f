// Finds out why a function was compiled again and why it runs eagerly, in a form in which two runs can be compared.
#pragma once

#include <string>

#include "diff/facts.h"

namespace depyf::diff {

// Returns why the function was compiled again: the guard of the nearest earlier compilation that refused the call.
// Dumps and logs give the same kind and subject.
Cause cause_of(const record::Compilation& compilation);

// Returns "limit", "break" or "error" for a function that runs eagerly, and the line that caused it.
std::string eager_kind(const record::Compilation& compilation);
record::Place eager_place(const record::Compilation& compilation);

}  // namespace depyf::diff
