// Whether a condition from a file may stand in Python that a reader may run.
#pragma once

#include <string_view>

namespace depyf::artifact {

// True if evaluating the expression does what a guard does and no more: it calls nothing but what guards of PyTorch call, and
// defines and imports nothing. A file may have any text where PyTorch writes conditions.
bool is_harmless(std::string_view expression);

// True if the text is names with dots between them.
bool is_dotted_name(std::string_view text);

}  // namespace depyf::artifact
