// Prints code objects as text, for human readers and for tests.
#pragma once

#include <string>

#include "depyf/constant.h"
#include "depyf/decompile.h"

namespace depyf::cli {

// Returns all fields of `code` and of its nested code objects as they were loaded, with one field on each line.
std::string fields_text(const CodeObject& code);

// Returns the version-neutral instructions of `code` and of its nested code objects.
std::string disassembly_text(const CodeObject& code);

// Returns the line map as JSON. The code of the line `line`, counted from 1, starts at byte `offset` of the bytecode of
// the outermost code object. Each nested function and class has a line map of its own. `path` lists the indices of the
// constants that lead from the outermost code object to the nested code object. The JSON has this form:
//     {"version": 1, "lines": [{"line": 1, "offset": 0}], "nested": [{"name": "C.f", "path": [0, 3], "lines": [...]}]}
std::string line_map_text(const Decompiled& decompiled);

}  // namespace depyf::cli
