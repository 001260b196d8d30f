// Decides whether a condition from a file can stand in Python code that a reader executes.
#pragma once

#include <string_view>

namespace depyf::artifact {

// True if evaluating the expression does no more than a guard does: it calls only what guards of PyTorch call, and it
// defines and imports nothing. A file can contain any text in the place of a condition.
bool is_harmless(std::string_view expression);

// True if the text consists of names with dots between them.
bool is_dotted_name(std::string_view text);

}  // namespace depyf::artifact
