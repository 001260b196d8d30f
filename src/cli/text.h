// A code object as text for people and tests.
#pragma once

#include <string>

#include "depyf/code_object.h"
#include "depyf/decompile.h"

namespace depyf::cli {

// All fields of `code` and of the code objects in it as they were loaded, one a line.
std::string fields_text(const CodeObject& code);

// The version-neutral instructions of `code` and of the code objects in it.
std::string disassembly_text(const CodeObject& code);

// {"version": 1, "lines": [{"line": 1, "offset": 0}, ...], "nested": [{"name": "C.f", "path": [0, 3], "lines": [...]}, ...]}:
// `line` of the source, from 1, starts at byte `offset` of the bytecode of the outermost code object, and of each function and
// class in it, which `path` leads to through the constants.
std::string line_map_text(const Decompiled& decompiled);

}  // namespace depyf::cli
