// Finds the reasons why a function was compiled again, and why it runs eagerly, in a form in which two runs can be
// compared.
#pragma once

#include <string>
#include <vector>

#include "diff/facts.h"

namespace depyf::diff {

// Returns the reason why the function was compiled again. Each earlier compilation of the function may refuse the call
// for a different reason. For example, if one earlier compilation was made under no_grad and another earlier
// compilation for float64, a call with a new size can fail a guard on the grad mode, a guard on the dtype and a guard
// on the size. The result is the first failed guard that is not a cause in `earlier`, because the property that this
// guard checks is new in the call. If all failed guards are causes in `earlier`, the result is the first failed guard.
// The kind and the subject of a cause do not depend on whether a dump or a log is read.
Cause cause_of(const record::Compilation& compilation, const std::vector<Cause>& earlier);

// Return the reason why a function runs eagerly ("limit", "break" or "error"), and the line that is the cause.
std::string eager_kind(const record::Compilation& compilation);
record::Place eager_place(const record::Compilation& compilation);

}  // namespace depyf::diff
