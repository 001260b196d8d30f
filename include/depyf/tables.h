// The line and exception tables of a code object, from the bytes in which CPython keeps them.
#pragma once

#include <string>
#include <string_view>

namespace depyf {

struct CodeObject;

// Sets `positions` and `exceptions`; version, firstlineno and bytecode must be set. `lines`: co_lnotab to 3.9,
// co_linetable from 3.10; `exceptions`: co_exceptiontable, empty to 3.10. Of a malformed table the rows before the
// fault are kept and false is returned.
bool read_tables(CodeObject& code, std::string_view lines, std::string_view exceptions);

// The bytes that read as these positions and exception ranges.
std::string line_table_of(const CodeObject& code);
std::string exception_table_of(const CodeObject& code);

}  // namespace depyf
