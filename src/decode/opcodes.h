// Defines CPython's opcodes by name and, for each version, the table that maps bytes to opcodes.
#pragma once

#include <array>
#include <cstdint>

#include "depyf/constant.h"

namespace depyf {

enum class Opcode : std::uint8_t {
  none,  // the byte is no opcode of the version
#define NAME(name) name,
#include "decode/tables/names.inc"
#undef NAME
};

struct OpcodeInfo {
  // The meaning of an instruction's argument. The unit of a jump argument, one or two bytes, depends on the version.
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
  std::uint8_t caches = 0;  // the number of code units of inline cache that follow the instruction
  Argument argument = Argument::none;
  bool is_jump = false;

  constexpr std::uint32_t size() const { return 2 + 2u * caches; }  // the size in bytes, including the caches
};

using OpcodeTable = std::array<OpcodeInfo, 256>;

// Returns the table of a version; nullptr for an unknown version.
const OpcodeTable* opcode_table(Version version);

}  // namespace depyf
