// Identifies constants that constant folding has produced.
#pragma once

#include "depyf/constant.h"

namespace depyf {

// True for a constant that the source cannot write as one literal, such as -1 or (1, 2). From 3.14 on, the compiler
// folds `-1` and `(1, 2)` only after it has laid out and copied the code of the expression.
bool is_folded(const Constant& constant);

}  // namespace depyf
