// Prints code objects as text, for people and for tests.
#pragma once

#include <string>

#include "depyf/constant.h"
#include "depyf/decompile.h"

namespace depyf::cli {

// Returns all fields of `code` and of its nested code objects as they were loaded, one on each line.
std::string fields_text(const CodeObject& code);

// Returns the version-neutral instructions of `code` and of its nested code objects.
std::string disassembly_text(const CodeObject& code);

// Returns the line map as JSON:
//     {"version": 1, "lines": [{"line": 1, "offset": 0}, ...], "nested": [{"name": "C.f", "path": [0, 3], "lines": [...]}, ...]}
// `line` counts from 1 and starts at byte `offset` of the bytecode of the outermost code object. The same is given for
// each nested function and class, which `path` leads to through the constants.
std::string line_map_text(const Decompiled& decompiled);

}  // namespace depyf::cli
