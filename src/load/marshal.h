// The marshal format: how .pyc files keep a code object.
#pragma once

#include <memory>
#include <string_view>

#include "depyf/code_object.h"
#include "support/result.h"

namespace depyf {

// The code object at `offset` of `input`, as `version` writes it. Whatever the input, memory and time stay within a
// multiple of its size; offsets of errors count from the start of `input`. Lists, dicts and sets, which marshal knows
// but no compiler puts into a code object, become opaque constants.
Result<std::shared_ptr<const CodeObject>> read_marshal(Version version, std::string_view input, std::size_t offset = 0);

}  // namespace depyf
