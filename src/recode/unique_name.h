// Dynamo's unique names: `__compiled_fn_1_` and a uuid with underscores between its groups.
#pragma once

#include <string>
#include <string_view>

namespace depyf {

// The text without each `_` and uuid behind which no word goes on.
std::string without_unique_ends(std::string_view text);

}  // namespace depyf
