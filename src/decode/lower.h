// Translates CPython's instructions into version-neutral operations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "decode/instruction.h"
#include "decode/raw.h"
#include "support/result.h"

namespace depyf {

// Maps the offset in bytes of each CPython instruction to the index of the first operation into which it was
// translated. An instruction that was translated into no operation is mapped to the first operation of the next
// instruction.
class OperationMap {
 public:
  explicit OperationMap(std::size_t bytes) : units_(bytes / 2, nothing) {}

  // Adds an instruction.
  void add(std::uint32_t offset, std::int32_t operation) { units_[offset / 2] = operation; }
  // Adds a code unit that jumps and handlers may not lead to, such as an opcode behind EXTENDED_ARG.
  void add_inner(std::uint32_t offset, std::int32_t operation) { units_[offset / 2] = inner(operation); }

  // Returns the index of the first operation of the instruction that starts at `offset`; -1 if no instruction starts at
  // `offset`, or if jumps may not lead there.
  std::int32_t at(std::uint32_t offset) const {
    return offset % 2 || offset / 2 >= units_.size() ? -1 : std::max(units_[offset / 2], -1);
  }

  // Returns the index of the first operation of the first instruction whose opcode lies at `offset` or later; `end` if
  // no instruction does.
  std::int32_t at_or_behind(std::uint32_t offset, std::int32_t end) const {
    std::size_t unit = offset / 2 + offset % 2;
    while (unit < units_.size() && units_[unit] == nothing) ++unit;
    if (unit >= units_.size()) return end;
    return units_[unit] >= 0 ? units_[unit] : inner(units_[unit]);
  }

 private:
  static constexpr std::int32_t nothing = -1;

  // If jumps may not lead to a code unit, the operation of the unit is encoded as a number below -1. `inner` also
  // decodes, because it is its own inverse.
  static std::int32_t inner(std::int32_t operation) { return -2 - operation; }

  std::vector<std::int32_t> units_;
};

// Appends the operations of the code object to `decoded.instructions`; the code and localsplus of `decoded` must be
// set. The last operation does not fall through. Jump targets remain offsets in bytes, which the returned OperationMap
// maps to operations.
Result<OperationMap> lower(DecodedCode& decoded);

}  // namespace depyf
