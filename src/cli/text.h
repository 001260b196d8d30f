// A code object as text for people and tests.
#pragma once

#include <string>

#include "depyf/code_object.h"

namespace depyf::cli {

// All fields of `code` and of the code objects in it as they were loaded, one a line.
std::string fields_text(const CodeObject& code);

// The version-neutral instructions of `code` and of the code objects in it.
std::string disassembly_text(const CodeObject& code);

}  // namespace depyf::cli
