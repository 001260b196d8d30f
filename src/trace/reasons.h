// Parses the texts in which PyTorch describes graph breaks and failed guards.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf::trace {

// Reads one item of recompile_reasons, such as "0/0: self.scale == 1.0   # x = f(self.scale)  # FILE:LINE in
// FUNCTION". In newer releases of PyTorch, a stack of the user's code follows the reason.
record::FailedGuard failed_guard_of(std::string_view text);

// Reads a text of the form "FILE:LINE in FUNCTION" or "FILE:LINE". Returns an empty place if the text has neither of
// these two forms.
record::Place place_of(std::string_view text);

}  // namespace depyf::trace
