// Decides whether a condition from a file is safe to print as Python code that a reader may execute.
#pragma once

#include <string_view>

namespace depyf::artifact {

// True if the expression only calls functions that guards of PyTorch call, and defines and imports nothing.
// Evaluating a harmless expression has no more effects than evaluating a guard. The check is needed because a
// malicious file can contain any text as a condition.
bool is_harmless(std::string_view expression);

// True if the text consists of one or more names with dots between them.
bool is_dotted_name(std::string_view text);

}  // namespace depyf::artifact
