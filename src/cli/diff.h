// Prints the differences between two builds of a module.
#pragma once

#include <string>

#include "cli/command.h"

namespace depyf::cli {

// Prints the code objects of `first` that are missing or different in `second`, and the code objects that are new in
// `second`. Returns the exit status: 0 if both files contain the same bytecode, 1 if they differ or a file cannot be
// read.
int run_diff(const std::string& first, const std::string& second, const Settings& settings, Sinks& sinks);

}  // namespace depyf::cli
