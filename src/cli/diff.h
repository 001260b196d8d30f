// What two builds of a module differ in.
#pragma once

#include <string>

#include "cli/command.h"

namespace depyf::cli {

// Prints, by code object, what of `first` is gone or other in `second`, and what is new there. The exit status: 0 where both
// hold the same bytecode, 1 where they differ or one cannot be read.
int run_diff(const std::string& first, const std::string& second, const Settings& settings, Sinks& sinks);

}  // namespace depyf::cli
