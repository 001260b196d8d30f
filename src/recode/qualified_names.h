// Qualified names: those of code objects (from 3.11 on), and those among the constants, which class bodies store, and
// from which functions are named to 3.10.
#pragma once

#include <string>

#include "depyf/code_object.h"

namespace depyf {

// Gives qualified names another beginning, in nested code too.
void replace_prefix(CodeObject& code, const std::string& prefix, const std::string& replacement);

// The qualified name of a function's code; to 3.10, where code has none, as the functions in it are called, or
// `written_name`.
std::string qualified_name(const CodeObject& code, const std::string& written_name);

// Gives the functions in `code` the qualified names of those in `original`, which need not be where these stand:
// Dynamo's resume functions are called by their name alone.
void qualify_as(CodeObject& code, const CodeObject& original);

}  // namespace depyf
