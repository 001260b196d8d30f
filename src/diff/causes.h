// Finds out why a function was compiled again and why it runs eagerly, in a form in which two runs can be compared.
#pragma once

#include <string>
#include <vector>

#include "diff/facts.h"

namespace depyf::diff {

// Returns why the function was compiled again. The guards of each earlier compilation may have failed for another
// reason: if the function was compiled under no_grad and for another dtype before, a call with a new size fails a guard
// on the grad mode, one on the dtype and one on the size. The property that is new in the call is the cause, so the
// first failed guard that is no cause in `earlier` is chosen, or the first failed guard if all are causes in `earlier`.
// The kind and the subject of the cause are the same for dumps and logs.
Cause cause_of(const record::Compilation& compilation, const std::vector<Cause>& earlier);

// Returns "limit", "break" or "error" for a function that runs eagerly, and the line that caused it.
std::string eager_kind(const record::Compilation& compilation);
record::Place eager_place(const record::Compilation& compilation);

}  // namespace depyf::diff
