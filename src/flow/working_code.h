// Defines the list of instructions that the passes of this folder rewrite.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "decode/instruction.h"
#include "support/table.h"

namespace depyf {

// A copy of decoded instructions, whose number does not change. A std::vector copies instructions one by one, because
// their members have initial values; here all instructions are copied as one block of memory.
class WorkingCode {
 public:
  WorkingCode() = default;
  explicit WorkingCode(std::span<const Instruction> code)
      : memory_(std::as_bytes(code).begin(), std::as_bytes(code).end()) {}

  std::size_t size() const { return memory_.size() / sizeof(Instruction); }
  Instruction* data() { return reinterpret_cast<Instruction*>(memory_.data()); }
  const Instruction* data() const { return reinterpret_cast<const Instruction*>(memory_.data()); }
  Instruction* begin() { return data(); }
  const Instruction* begin() const { return data(); }
  Instruction* end() { return data() + size(); }
  const Instruction* end() const { return data() + size(); }
  Instruction& operator[](InstructionIndex at) { return data()[at]; }
  const Instruction& operator[](InstructionIndex at) const { return data()[at]; }

 private:
  static_assert(std::is_trivially_copyable_v<Instruction>);
  std::vector<std::byte> memory_;
};

}  // namespace depyf
