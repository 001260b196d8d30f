// Names for free and cell variables under which the compiler puts them into a given order.
#pragma once

#include "depyf/recode.h"

namespace depyf {

// Undoes `names_that_sort`: gives variables their own names back, in qualified names too.
void restore_variables(CodeObject& code, const NewNames& sorted);

}  // namespace depyf
