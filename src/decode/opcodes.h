// CPython's opcodes by name, and the table of each version that maps bytes to them.
#pragma once

#include <array>
#include <cstdint>

#include "depyf/constant.h"

namespace depyf {

enum class Opcode : std::uint8_t {
  none,  // no opcode of this version
#define NAME(name) name,
#include "decode/tables/names.inc"
#undef NAME
};

struct OpcodeInfo {
  // How the argument is meant; a jump's is in the units and the direction of the version.
  enum class Argument : std::uint8_t {
    none,
    number,
    constant,
    name,
    local,
    free,
    compare,
    jump_forward,
    jump_backward,
    jump_absolute
  };
  Opcode opcode = Opcode::none;
  std::uint8_t caches = 0;  // code units that follow the instruction
  Argument argument = Argument::none;
};

using OpcodeTable = std::array<OpcodeInfo, 256>;

// nullptr for a version that is not known.
const OpcodeTable* opcode_table(Version version);

}  // namespace depyf
