// Line tables: co_lnotab (to 3.9), co_linetable as ranges of lines (3.10) and as locations (from 3.11).
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "depyf/code_object.h"

namespace depyf {

// One position a code unit of `code_size` bytes of bytecode. Of a malformed table the rows before the fault are kept
// and `ok` (if given) becomes false.
std::vector<Position> read_line_table(Version version, std::string_view table, std::int32_t first_line,
                                      std::size_t code_size, bool* ok = nullptr);

}  // namespace depyf
