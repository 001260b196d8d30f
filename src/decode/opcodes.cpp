#include "decode/opcodes.h"

namespace depyf {
namespace {

using Argument = OpcodeInfo::Argument;

// In 3.14 the argument of END_ASYNC_FOR says only where the loop began, for sys.monitoring, so it is no jump.
constexpr bool is_jump(Opcode opcode, Argument argument) {
  return argument >= Argument::jump_forward && opcode != Opcode::END_ASYNC_FOR;
}

#define OPCODE(byte, name, caches, argument) \
  table[byte] = {Opcode::name, caches, Argument::argument, is_jump(Opcode::name, Argument::argument)};
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

constexpr const OpcodeTable* tables[] = {&py308, &py309, &py310, &py311, &py312, &py313, &py314, &py315};

}  // namespace

const OpcodeTable* opcode_table(Version version) {
  if (version < Version{3, 8} || version > Version{3, 15}) return nullptr;
  return tables[version.minor - 8];
}

}  // namespace depyf
