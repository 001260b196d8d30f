// Defines a row of the exception table.
#pragma once

#include <cstdint>

namespace depyf {

// One row of the exception table (3.11 and later). Offsets are in bytes, and `end` is excluded.
struct ExceptionEntry {
  std::uint32_t start = 0, end = 0, target = 0, depth = 0;
  bool lasti = false;
  friend bool operator==(const ExceptionEntry&, const ExceptionEntry&) = default;
};

}  // namespace depyf
