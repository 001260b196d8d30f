// The exception table of 3.11 and later.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "depyf/code_object.h"

namespace depyf {

// Of a malformed table the rows before the fault are kept and `ok` (if given) becomes false.
std::vector<ExceptionEntry> read_exception_table(std::string_view table, bool* ok = nullptr);

// The table that reads as `entries`.
std::string write_exception_table(const std::vector<ExceptionEntry>& entries);

}  // namespace depyf
