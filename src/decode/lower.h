// CPython's instructions to version-neutral ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "decode/instruction.h"
#include "decode/raw.h"
#include "support/result.h"

namespace depyf {

// Says for each of CPython's instructions, by its offset in bytes, which operation is the first that it, or an
// instruction behind it, was translated into.
class OperationMap {
 public:
  explicit OperationMap(std::size_t bytes) : units_(bytes / 2, nothing) {}

  // Adds an instruction.
  void add(std::uint32_t offset, std::int32_t operation) { units_[offset / 2] = operation; }
  // Adds a code unit that belongs to an instruction, but that jumps and handlers may not lead to.
  void add_inner(std::uint32_t offset, std::int32_t operation) { units_[offset / 2] = inner(operation); }

  // Returns the operation of the instruction that starts at `offset`; -1 if none does, or if it cannot be entered.
  std::int32_t at(std::uint32_t offset) const {
    return offset % 2 || offset / 2 >= units_.size() ? -1 : std::max(units_[offset / 2], -1);
  }

  // Returns the operation of the first instruction whose opcode lies at `offset` or later; `end` if there is none.
  std::int32_t at_or_behind(std::uint32_t offset, std::int32_t end) const {
    std::size_t unit = offset / 2 + offset % 2;
    while (unit < units_.size() && units_[unit] == nothing) ++unit;
    if (unit >= units_.size()) return end;
    return units_[unit] >= 0 ? units_[unit] : inner(units_[unit]);
  }

 private:
  static constexpr std::int32_t nothing = -1;

  // The number that stands for an operation whose unit cannot be entered. The function is its own inverse.
  static std::int32_t inner(std::int32_t operation) { return -2 - operation; }

  std::vector<std::int32_t> units_;
};

// Appends to `decoded.instructions`; the code and localsplus of `decoded` must be set. The instructions end in one that
// does not fall through. Jump targets are left as offsets in bytes, which the result translates.
Result<OperationMap> lower(DecodedCode& decoded);

}  // namespace depyf
