// Bytecode as a list of CPython's own instructions: EXTENDED_ARG is merged into the instruction behind it, and inline
// caches are left out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "decode/opcodes.h"
#include "depyf/constant.h"
#include "support/result.h"

namespace depyf {

struct RawInstruction {
  Opcode opcode = Opcode::none;
  bool is_jump = false;
  bool is_target = false;      // true if a jump or exception handler leads here; only `read_raw` sets it
  std::uint32_t arg = 0;
  std::uint32_t offset = 0;    // the offset of the opcode, or of its first EXTENDED_ARG
  std::uint32_t at = 0;        // offset of the opcode itself
  std::uint32_t end = 0;       // offset behind the caches
  std::uint32_t target = 0;    // for a jump: the target's offset in bytes or, in the result of `read_raw`, its index
};

// Reads the instructions of a code object one after the other.
class RawReader {
 public:
  explicit RawReader(const CodeObject& code);

  bool ok() const { return !error_; }
  const Error& error() const { return *error_; }

  // Reads the next instruction. Returns false at the end of the bytecode, and if the instruction is malformed.
  bool next(RawInstruction& raw) {
    if (is_at_end()) return false;
    const OpcodeInfo& info = table_[bytes_[next_]];
    const bool is_usual = info.opcode != Opcode::EXTENDED_ARG && info.opcode != Opcode::none;
    if (!is_usual || size_ - next_ < info.size()) [[unlikely]]
      return next_unusual(raw);
    raw.offset = raw.at = next_;
    raw.arg = info.argument == OpcodeInfo::Argument::none ? 0 : bytes_[next_ + 1];
    return finish(raw, info);
  }

  // Returns the offset behind the instruction that was read last.
  std::uint32_t offset() const { return next_; }
  // Moves the reader to `offset`: the start of an instruction, or the end of the bytecode.
  void seek(std::uint32_t offset) { next_ = offset; }
  bool is_at_end() const { return next_ >= size_; }

  // Returns the opcode at `offset`; Opcode::none at the end of the bytecode.
  Opcode opcode_at(std::uint32_t offset) const { return offset < size_ ? table_[bytes_[offset]].opcode : Opcode::none; }

 private:
  bool finish(RawInstruction& raw, const OpcodeInfo& info) {
    raw.opcode = info.opcode;
    raw.is_jump = info.is_jump;
    next_ = raw.end = raw.at + info.size();
    return !info.is_jump || read_target(raw, info);
  }
  bool next_unusual(RawInstruction& raw);
  bool read_target(RawInstruction& raw, const OpcodeInfo& info);
  bool fail(std::string message, std::size_t offset);

  const OpcodeInfo* table_ = nullptr;
  const std::uint8_t* bytes_ = nullptr;
  std::uint32_t size_ = 0, next_ = 0;
  std::uint32_t jump_unit_ = 0;
  std::optional<Error> error_;
};

// Returns the instructions, or an error if the bytecode is malformed, or a jump or handler does not lead to the start
// of an instruction. An instruction with EXTENDED_ARG starts at its first EXTENDED_ARG.
Result<std::vector<RawInstruction>> read_raw(const CodeObject& code);

// Returns the index of the first instruction whose opcode lies at `offset` or later; raws.size() if no instruction
// does.
std::size_t first_at(const std::vector<RawInstruction>& raws, std::uint32_t offset);

// Returns the index of the instruction that starts at `offset`, or raws.size() if none does.
std::size_t starts_at(const std::vector<RawInstruction>& raws, std::uint32_t offset);

// Returns a bit for each code unit: true if the unit is the target of a jump or an exception handler.
std::vector<bool> target_units(const CodeObject& code);

}  // namespace depyf
