// Free and cell variables under the names that sort as wanted.
#pragma once

#include "depyf/recode.h"

namespace depyf {

// Gives variables that were compiled under the names of `names_that_sort` their own names back, in qualified names too.
void restore_variables(CodeObject& code, const NewNames& sorted);

}  // namespace depyf
