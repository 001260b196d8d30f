// The magic number that begins every .pyc file.
#pragma once

#include <cstdint>

#include "depyf/constant.h"
#include "support/result.h"

namespace depyf {

// The version whose released interpreters write `magic`. Pre-releases wrote other bytecode under numbers of their own:
// these are errors, as are versions that are not supported.
Result<Version> version_of_magic(std::uint16_t magic);

}  // namespace depyf
