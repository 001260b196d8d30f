// Finds out why a function was compiled again and why it runs eagerly, in a form in which two runs can be compared.
#pragma once

#include <string>
#include <vector>

#include "diff/facts.h"

namespace depyf::diff {

// Returns why the function was compiled again. Each earlier compilation may have refused the call for a reason of its own:
// if the function was compiled under no_grad and for another dtype before, a call with a new size fails a guard on the grad
// mode, one on the dtype and one on the size. What is new in the call is its cause. Therefore the first failed guard that is
// no cause in `earlier` is chosen. If each of them is, the first failed guard of all is chosen. Dumps and logs give the same
// kind and subject.
Cause cause_of(const record::Compilation& compilation, const std::vector<Cause>& earlier);

// Returns "limit", "break" or "error" for a function that runs eagerly, and the line that caused it.
std::string eager_kind(const record::Compilation& compilation);
record::Place eager_place(const record::Compilation& compilation);

}  // namespace depyf::diff
