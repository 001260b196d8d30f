// The compression of zip archives (RFC 1951).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "support/result.h"

namespace depyf {

// What `compressed` holds, or an error with the offset in `compressed`. Beyond `limit` bytes: an error.
Result<std::string> inflate(std::string_view compressed, std::size_t limit);

}  // namespace depyf
