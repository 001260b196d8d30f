// The unique names of Dynamo: `__compiled_fn_1_` and a uuid with underscores between its groups.
#pragma once

#include <string>
#include <string_view>

namespace depyf {

// Returns the text without each `_` and uuid that ends a name.
std::string without_unique_ends(std::string_view text);

}  // namespace depyf
