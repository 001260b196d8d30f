#include <string>

#include "depyf/recode.h"
#include "depyf/tables.h"
#include "recode/splice.h"

namespace depyf {

std::string round_trip_difference(const CodeObject& code) {
  const Result<std::vector<RawInstruction>> raws = read_raw(code);
  if (!raws) return "the bytecode cannot be read: " + raws.error().message;
  CodeObject again = code;
  if (!lay_out_anew(again, *raws, {})) return "the code object is too large";
  if (again.bytecode != code.bytecode) return "the bytecode differs";
  if (again.exceptions != code.exceptions) return "the exception table differs";
  again = code;
  if (!read_tables(again, line_table_of(code), exception_table_of(code))) return "a written table cannot be read";
  if (again.exceptions != code.exceptions) return "the written exception table differs";
  if (again.positions != code.positions) return "the written positions differ";
  return {};
}

}  // namespace depyf
