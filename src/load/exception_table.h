// Reads and writes the exception table of 3.11 and later.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "depyf/exception_entry.h"

namespace depyf {

// Reads the table. If the table is malformed, the entries in front of the fault are kept, and `ok` (unless null)
// becomes false.
std::vector<ExceptionEntry> read_exception_table(std::string_view table, bool* ok = nullptr);

// Returns the bytes of the table that `read_exception_table` reads as `entries`.
std::string write_exception_table(const std::vector<ExceptionEntry>& entries);

}  // namespace depyf
