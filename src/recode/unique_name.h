// Shortens the unique names of Dynamo, which consist of a name such as `__compiled_fn_1`, an underscore, and a uuid
// with underscores between its groups.
#pragma once

#include <string>
#include <string_view>

namespace depyf {

// Returns the text with the `_` and the uuid removed from the end of each unique name.
std::string without_unique_ends(std::string_view text);

}  // namespace depyf
