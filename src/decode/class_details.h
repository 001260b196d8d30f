// Finds the stores by which the compiler makes a class body keep facts of its source (3.13 and later).
#pragma once

#include "decode/instruction.h"

namespace depyf {

// The instructions that store `__firstlineno__` and `__static_attributes__`, or -1. A program may store to these names
// itself: after the compiler stores the line, and before it stores the attributes.
struct ClassDetails {
  std::int32_t line = -1, attributes = -1;
};

ClassDetails class_details(const DecodedCode& decoded);

}  // namespace depyf
