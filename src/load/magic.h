// Finds the version of Python for the magic number that begins every .pyc file.
#pragma once

#include <cstdint>

#include "depyf/constant.h"
#include "support/result.h"

namespace depyf {

// Returns the version whose released interpreters write `magic`. The magic numbers of pre-releases, which wrote other
// bytecode, and of versions that are not supported are errors.
Result<Version> version_of_magic(std::uint16_t magic);

}  // namespace depyf
