// Finds out why a function was compiled again and why it runs eagerly, in a form in which two runs can be compared.
#pragma once

#include <string>
#include <vector>

#include "diff/facts.h"

namespace depyf::diff {

// Returns why the function was compiled again, from the guards of earlier compilations that refused the call. Each of these
// compilations may have refused it for a reason of its own: after one under no_grad and one for another dtype, a call
// that brings a new size fails a guard on grad mode, on dtype and on size. The cause is what is new in the call, so the
// first guard is chosen that is not among the causes of earlier recompilations; if all are, the first of all. Dumps and
// logs give the same kind and subject.
Cause cause_of(const record::Compilation& compilation, const std::vector<Cause>& earlier);

// Returns "limit", "break" or "error" for a function that runs eagerly, and the line that caused it.
std::string eager_kind(const record::Compilation& compilation);
record::Place eager_place(const record::Compilation& compilation);

}  // namespace depyf::diff
