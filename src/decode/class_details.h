// Finds the stores to `__firstlineno__` and `__static_attributes__` that the compiler adds to a class body (3.13 and
// later).
#pragma once

#include "decode/instruction.h"

namespace depyf {

// The indices of the compiler's stores to `__firstlineno__` (`line`) and `__static_attributes__` (`attributes`), or -1
// if the class body lacks the store. A program's own stores to `__firstlineno__` and `__static_attributes__` lie
// between the compiler's stores.
struct ClassDetails {
  std::int32_t line = -1, attributes = -1;
};

ClassDetails class_details(const DecodedCode& decoded);

}  // namespace depyf
