// The tables of opcodes as constant expressions, from which other tables are computed when depyf is compiled.
#pragma once

#include <array>

#include "decode/opcodes.h"

namespace depyf {
namespace opcode_rows {

// END_ASYNC_FOR is no jump: from 3.14 on, its argument is a distance back into the loop, which only sys.monitoring
// uses.
constexpr bool is_jump(Opcode opcode, OpcodeInfo::Argument argument) {
  return argument >= OpcodeInfo::Argument::jump_forward && opcode != Opcode::END_ASYNC_FOR;
}

#define OPCODE(byte, name, caches, argument)                           \
  table[byte] = {Opcode::name, caches, OpcodeInfo::Argument::argument, \
                 is_jump(Opcode::name, OpcodeInfo::Argument::argument)};
#define TABLE(version) constexpr OpcodeTable version = [] {      \
    OpcodeTable table{};
#define END_TABLE \
  return table;   \
  }               \
  ();

TABLE(py308)
#include "decode/tables/py308.inc"
END_TABLE
TABLE(py309)
#include "decode/tables/py309.inc"
END_TABLE
TABLE(py310)
#include "decode/tables/py310.inc"
END_TABLE
TABLE(py311)
#include "decode/tables/py311.inc"
END_TABLE
TABLE(py312)
#include "decode/tables/py312.inc"
END_TABLE
TABLE(py313)
#include "decode/tables/py313.inc"
END_TABLE
TABLE(py314)
#include "decode/tables/py314.inc"
END_TABLE
TABLE(py315)
#include "decode/tables/py315.inc"
END_TABLE

#undef OPCODE
#undef TABLE
#undef END_TABLE

}  // namespace opcode_rows

// The table of each version, in the order of `dialects`.
inline constexpr std::array opcode_tables = {opcode_rows::py308, opcode_rows::py309, opcode_rows::py310,
                                             opcode_rows::py311, opcode_rows::py312, opcode_rows::py313,
                                             opcode_rows::py314, opcode_rows::py315};

}  // namespace depyf
