// Reads the marshal format, in which .pyc files store a code object.
#pragma once

#include <memory>
#include <string_view>

#include "depyf/constant.h"
#include "support/result.h"

namespace depyf {

// Returns the code object at `offset` of `input`, which `version` wrote. The size of the input bounds the memory and
// the time, whatever bytes the input consists of. Offsets of errors count from the start of `input`. Lists, dicts and
// sets become opaque constants: marshal has them, but no compiler puts them into a code object.
Result<std::shared_ptr<const CodeObject>> read_marshal(Version version, std::string_view input, std::size_t offset = 0);

}  // namespace depyf
