// Shows the differences between two builds of a module.
#pragma once

#include <string>

#include "cli/command.h"

namespace depyf::cli {

// Prints which code objects of `first` are missing or different in `second`, and which of `second` are new. Returns the
// exit status: 0 if both contain the same bytecode, 1 if they differ or one of them cannot be read.
int run_diff(const std::string& first, const std::string& second, const Settings& settings, Sinks& sinks);

}  // namespace depyf::cli
