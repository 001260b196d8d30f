// Reads and writes line tables: co_lnotab (up to 3.9), and co_linetable as ranges of lines (3.10) or as locations (from
// 3.11 on).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/constant.h"
#include "depyf/position.h"

namespace depyf {

// Returns one position for each code unit of the `code_size` bytes of bytecode. If the table is malformed, the entries
// in front of the fault are kept, and `ok` (unless null) becomes false.
std::vector<Position> read_line_table(Version version, std::string_view table, std::int32_t first_line,
                                      std::size_t code_size, bool* ok = nullptr);

// Returns the table from which `read_line_table` reads `positions`, in the format of the version. Facts that the format
// cannot hold are left out: columns (up to 3.10), and an end line that is smaller than the line (from 3.11 on). Up to
// 3.9, a code unit without a line gets the line of the code unit in front of it.
std::string write_line_table(Version version, const std::vector<Position>& positions, std::int32_t first_line);

}  // namespace depyf
