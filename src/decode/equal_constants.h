// Compares constants by type and value.
#pragma once

#include "depyf/constant.h"

namespace depyf {

// Returns true for two constants of the same type and value. Returns false for two code objects, because their equality
// needs a proof of its own. `is_order_free` is true if the order of a set's items does not matter.
bool equal_constants(const Constant& one, const Constant& two, bool is_order_free = false);

}  // namespace depyf
