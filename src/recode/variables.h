// Restores variables that were renamed so that the compiler, which sorts free and cell variables by name, puts them
// into a given order.
#pragma once

#include "depyf/recode.h"

namespace depyf {

// Restores the original names of variables, in qualified names too. `sorted`, a result of `names_that_sort`
// (depyf/recode.h), maps the original names to the names that `code` has.
void restore_variables(CodeObject& code, const NewNames& sorted);

}  // namespace depyf
