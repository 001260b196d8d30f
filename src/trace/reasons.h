// The texts in which PyTorch words graph breaks and failed guards, taken apart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf::trace {

// One item of recompile_reasons: "0/0: self.scale == 1.0   # x = f(self.scale)  # FILE:LINE in FUNCTION", and in newer
// releases a stack of the user's code behind it.
record::FailedGuard failed_guard_of(std::string_view text);

// "FILE:LINE in FUNCTION" or "FILE:LINE"; an empty place if the text is neither.
record::Place place_of(std::string_view text);

}  // namespace depyf::trace
