// The place in a file of Python where a statement about PyTorch can be inserted.
#pragma once

#include <optional>
#include <string_view>

namespace depyf::findings {

// Returns the number of the line behind the first statement at the top level that imports torch, or a part of it: from 1;
// nothing if there is none. The line may be one behind the last.
std::optional<int> line_behind_import(std::string_view source);

}  // namespace depyf::findings
