// Line tables: co_lnotab (to 3.9), co_linetable as ranges of lines (3.10) and as locations (from 3.11).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/code_object.h"

namespace depyf {

// One position a code unit of `code_size` bytes of bytecode. Of a malformed table the rows before the fault are kept
// and `ok` (if given) becomes false.
std::vector<Position> read_line_table(Version version, std::string_view table, std::int32_t first_line,
                                      std::size_t code_size, bool* ok = nullptr);

// The table that reads as `positions`, in the format of the version. What a format cannot hold is left out: columns to
// 3.10; an end line before the line from 3.11 on; and to 3.9 that a unit has no line, which gets that of the unit before it.
std::string write_line_table(Version version, const std::vector<Position>& positions, std::int32_t first_line);

}  // namespace depyf
