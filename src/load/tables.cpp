#include "depyf/tables.h"

#include "depyf/code_object.h"
#include "load/exception_table.h"
#include "load/line_table.h"

namespace depyf {

bool read_tables(CodeObject& code, std::string_view lines, std::string_view exceptions) {
  bool lines_ok = false, exceptions_ok = false;
  code.positions = read_line_table(code.version, lines, code.firstlineno, code.bytecode.size(), &lines_ok);
  code.exceptions = read_exception_table(exceptions, &exceptions_ok);
  return lines_ok && exceptions_ok;
}

std::string line_table_of(const CodeObject& code) {
  return write_line_table(code.version, code.positions, code.firstlineno);
}

std::string exception_table_of(const CodeObject& code) { return write_exception_table(code.exceptions); }

}  // namespace depyf
