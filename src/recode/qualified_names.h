// Qualified names. From 3.11 on, code objects have them. Class bodies store them as constants, and until 3.10 functions
// get their names from constants as well.
#pragma once

#include <string>

#include "depyf/constant.h"

namespace depyf {

// Replaces the beginning `prefix` of qualified names, in nested code too.
void replace_prefix(CodeObject& code, const std::string& prefix, const std::string& replacement);

// Returns the qualified name of a function's code. Until 3.10 code has none: then it is taken from the names of the
// functions that the code makes, or is `written_name`.
std::string qualified_name(const CodeObject& code, const std::string& written_name);

// Gives the functions in `code` the qualified names of those in `original`. These need not continue the name of `code`:
// Dynamo names its resume functions by their short name alone.
void qualify_as(CodeObject& code, const CodeObject& original);

}  // namespace depyf
