// Reads and writes the line tables and exception tables of code objects, in the forms of the different versions of
// CPython.
#pragma once

#include <string>
#include <string_view>

namespace depyf {

struct CodeObject;

// Sets `positions` and `exceptions` of `code`, whose version, firstlineno and bytecode must be set. `lines` is
// co_lnotab up to 3.9 and co_linetable from 3.10 on. `exceptions` is co_exceptiontable, which is empty up to 3.10. If a
// table is malformed, the function keeps the rows before the fault and returns false.
bool read_tables(CodeObject& code, std::string_view lines, std::string_view exceptions);

// Return the line table and the exception table of `code` as bytes, from which `read_tables` reads the same positions
// and exception ranges.
std::string line_table_of(const CodeObject& code);
std::string exception_table_of(const CodeObject& code);

}  // namespace depyf
