// Helpers for instructions whose argument is the index of a name.
#pragma once

#include <string>
#include <vector>

#include "decode/raw.h"
#include "depyf/recode.h"
#include "dialect/dialect.h"

namespace depyf {

// Returns the index of the name that an instruction uses. In some versions, the lowest bits of the arguments of
// LOAD_GLOBAL and IMPORT_NAME are flags.
inline std::size_t name_index(const RawInstruction& raw, const Dialect& dialect) {
  if (raw.opcode == Opcode::LOAD_GLOBAL && dialect.global_null_bit) return raw.arg >> 1;
  if (raw.opcode == Opcode::IMPORT_NAME && dialect.import_flags) return raw.arg >> 2;
  return raw.arg;
}

// Returns the global names that a code object itself reads, writes or deletes. Names in nested code objects are left
// out.
NameSet own_global_names(const CodeObject& code);

}  // namespace depyf
