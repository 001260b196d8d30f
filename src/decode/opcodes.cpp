#include "decode/opcodes.h"

#include "decode/opcode_tables.h"
#include "dialect/dialect.h"

namespace depyf {

static_assert(opcode_tables.size() == dialects.size());

const OpcodeTable* opcode_table(Version version) {
  if (version < Version{3, oldest_minor} || version > Version{3, newest_minor}) return nullptr;
  return &opcode_tables[dialect_index(version)];
}

}  // namespace depyf
