// Defines the position of bytecode in its source.
#pragma once

#include <cstdint>

namespace depyf {

// The source position of one code unit (two bytes of bytecode). Unknown numbers are -1. Columns are UTF-8 byte offsets.
struct Position {
  std::int32_t line = -1, end_line = -1, column = -1, end_column = -1;
  friend bool operator==(const Position&, const Position&) = default;
};

}  // namespace depyf
