// Restores variables that were renamed so that the compiler, which sorts free and cell variables by name, puts them
// into a given order.
#pragma once

#include "depyf/recode.h"

namespace depyf {

// Undoes the renaming of `names_that_sort`: restores the original names of variables, in qualified names too.
void restore_variables(CodeObject& code, const NewNames& sorted);

}  // namespace depyf
