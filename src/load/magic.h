// The magic number that begins every .pyc file.
#pragma once

#include <cstdint>

#include "depyf/constant.h"
#include "support/result.h"

namespace depyf {

// Returns the version whose released interpreters write `magic`. Pre-releases wrote other bytecode under magic numbers
// of their own: these are errors, as are the numbers of versions that are not supported.
Result<Version> version_of_magic(std::uint16_t magic);

}  // namespace depyf
