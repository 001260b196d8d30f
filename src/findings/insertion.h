// Finds the line of a Python file at which a statement about PyTorch can be inserted.
#pragma once

#include <optional>
#include <string_view>

namespace depyf::findings {

// Returns the number, from 1, of the line behind the first top-level statement that imports torch or a part of it.
// Returns std::nullopt if no statement imports torch. The result may be one more than the number of the last line.
std::optional<int> line_behind_import(std::string_view source);

}  // namespace depyf::findings
