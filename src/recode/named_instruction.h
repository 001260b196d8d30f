// Instructions whose argument is a name.
#pragma once

#include <string>
#include <vector>

#include "decode/raw.h"
#include "depyf/recode.h"
#include "dialect/dialect.h"

namespace depyf {

// Returns the index of the name that an instruction uses. In the arguments of some opcodes the lowest bits mean
// something else.
inline std::size_t name_index(const RawInstruction& raw, const Dialect& dialect) {
  if (raw.opcode == Opcode::LOAD_GLOBAL && dialect.global_null_bit) return raw.arg >> 1;
  if (raw.opcode == Opcode::IMPORT_NAME && dialect.import_flags) return raw.arg >> 2;
  return raw.arg;
}

// Returns the global names that a code object itself reads, writes or deletes. Nested code does not count.
NameSet own_global_names(const CodeObject& code);

}  // namespace depyf
