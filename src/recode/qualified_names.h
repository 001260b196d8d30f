// Changes qualified names. From 3.11 on, code objects have qualified names. Class bodies store their qualified names as
// constants, and up to 3.10 functions get their qualified names from constants, too.
#pragma once

#include <string>

#include "depyf/constant.h"

namespace depyf {

// Replaces `prefix` by `replacement` at the beginning of qualified names, and of constants that can be qualified names,
// in `code` and the code nested in it.
void replace_prefix(CodeObject& code, const std::string& prefix, const std::string& replacement);

// Returns the qualified name of a function's code. Up to 3.10 code has no qualified name, so the result is derived from
// the qualified names of the functions that the code creates. The result is `written_name` if the qualified name cannot
// be derived from those of the functions that the code creates.
std::string qualified_name(const CodeObject& code, const std::string& written_name);

// Sets the qualified names of the functions in `code` to those of the functions of the same name in `original`. A
// nested function's qualified name need not begin with that of `code`: Dynamo's resume functions have only a short
// name.
void qualify_as(CodeObject& code, const CodeObject& original);

}  // namespace depyf
