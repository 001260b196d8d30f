// Why a function was compiled again, and why it runs eagerly, in a form that two runs share.
#pragma once

#include <string>

#include "diff/facts.h"

namespace depyf::diff {

// Returns why the compilation was made again: what the nearest earlier compilation refused the call for. Dumps and logs give
// the same kind and subject.
Cause cause_of(const record::Compilation& compilation);

// Returns "limit", "break" or "error" for a function that runs eagerly, and the line that is the cause.
std::string eager_kind(const record::Compilation& compilation);
record::Place eager_place(const record::Compilation& compilation);

}  // namespace depyf::diff
