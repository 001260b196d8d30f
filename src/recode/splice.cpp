#include "recode/splice.h"

#include <algorithm>
#include <limits>
#include <span>

#include "depyf/code_object.h"
#include "dialect/dialect.h"

namespace depyf {
namespace {

std::uint8_t byte_of(const OpcodeTable& table, Opcode opcode) {
  const auto* const entry =
      std::find_if(table.begin(), table.end(), [&](const OpcodeInfo& info) { return info.opcode == opcode; });
  return static_cast<std::uint8_t>(entry - table.begin());
}

// Returns the number of EXTENDED_ARG that an instruction with the argument `arg` needs.
std::uint32_t prefixes_of(std::uint32_t arg) {
  return (arg > 0xffu ? 1u : 0u) + (arg > 0xffffu ? 1u : 0u) + (arg > 0xffffffu ? 1u : 0u);
}

// Writes an instruction, without its caches, over the `prefixes` + 1 code units at `at`.
void write(std::span<std::uint8_t> at, const OpcodeTable& table, std::uint8_t opcode, std::uint32_t arg,
           std::uint32_t prefixes) {
  const std::uint8_t extended = byte_of(table, Opcode::EXTENDED_ARG);
  for (std::uint32_t i = 0; i <= prefixes; ++i) {
    const std::uint32_t shift = 8 * (prefixes - i);
    at[2 * i] = shift ? extended : opcode;
    at[2 * i + 1] = static_cast<std::uint8_t>(arg >> shift);
  }
}

std::uint32_t units_of(const OpcodeTable& table, const NewInstruction& instruction) {
  return prefixes_of(instruction.arg) + 1 + table[byte_of(table, instruction.opcode)].caches;
}

std::uint32_t units_of(const OpcodeTable& table, const std::vector<NewInstruction>& instructions) {
  std::uint32_t units = 0;
  for (const NewInstruction& instruction : instructions) units += units_of(table, instruction);
  return units;
}

void write_all(std::span<std::uint8_t> place, const OpcodeTable& table,
               const std::vector<NewInstruction>& instructions) {
  std::size_t at = 0;
  for (const NewInstruction& instruction : instructions) {
    write(place.subspan(at), table, byte_of(table, instruction.opcode), instruction.arg, prefixes_of(instruction.arg));
    at += 2 * units_of(table, instruction);
  }
  for (; at < place.size(); at += 2) write(place.subspan(at), table, byte_of(table, Opcode::NOP), 0, 0);
}

bool fits(const OpcodeTable& table, const std::vector<RawInstruction>& raws, const Replacements& replacements) {
  return std::all_of(replacements.begin(), replacements.end(), [&](const auto& replacement) {
    const RawInstruction& raw = raws[replacement.first];
    return 2 * units_of(table, replacement.second) <= raw.end - raw.offset;
  });
}

// Computes new offsets for all instructions. A longer jump may need another EXTENDED_ARG, which makes other jumps
// longer, so the sizes of jumps are computed again until none of them grows.
class Layout {
 public:
  Layout(const CodeObject& code, const std::vector<RawInstruction>& raws, const Replacements& replacements)
      : code_(code), table_(*opcode_table(code.version)), raws_(raws), replacements_(replacements) {
    for (std::size_t i = 0; i < raws.size(); ++i) sizes_.push_back(size_before(i));
  }

  bool lay_out() {
    do {
      offsets_.assign(1, 0);
      for (const std::uint64_t size : sizes_) offsets_.push_back(offsets_.back() + size);
      if (offsets_.back() > std::numeric_limits<std::int32_t>::max()) return false;
    } while (grown());
    return true;
  }

  void write_to(CodeObject& code) const {
    std::vector<std::uint8_t> bytecode(offsets_.back());
    std::vector<Position> positions(offsets_.back() / 2);
    for (std::size_t i = 0; i < raws_.size(); ++i) {
      const std::span<std::uint8_t> place(bytecode.data() + offsets_[i], sizes_[i]);
      write_one(i, place);
      const std::size_t unit = raws_[i].at / 2;
      if (unit >= code.positions.size()) continue;
      const auto first = positions.begin() + static_cast<std::ptrdiff_t>(offsets_[i] / 2);
      std::fill_n(first, sizes_[i] / 2, code.positions[unit]);
    }
    for (ExceptionEntry& entry : code.exceptions) {
      entry.start = moved(first_at(raws_, entry.start));
      entry.end = moved(first_at(raws_, entry.end));
      entry.target = moved(starts_at(raws_, entry.target));
    }
    code.bytecode = std::move(bytecode);
    code.positions = std::move(positions);
  }

 private:
  const RawInstruction& raw(std::size_t index) const { return raws_[index]; }
  std::uint32_t moved(std::size_t index) const { return static_cast<std::uint32_t>(offsets_[index]); }
  const OpcodeInfo& info(std::size_t index) const { return table_[code_.bytecode[raw(index).at]]; }

  std::uint64_t size_before(std::size_t index) const {
    const auto replacement = replacements_.find(index);
    if (replacement == replacements_.end()) return raw(index).end - raw(index).offset;
    // The replaced instruction may be the target of a jump, so at least one instruction has to take its place.
    return 2 * std::max<std::uint64_t>(1, units_of(table_, replacement->second));
  }

  std::uint32_t jump_argument(std::size_t index) const {
    const std::uint64_t target = offsets_[raw(index).target], end = offsets_[index + 1];
    const std::uint32_t unit = dialect_of(code_.version).jump_unit;
    const bool absolute = info(index).argument == OpcodeInfo::Argument::jump_absolute;
    const std::uint64_t distance = absolute ? target : target > end ? target - end : end - target;
    return static_cast<std::uint32_t>(distance / unit);
  }

  bool grown() {
    bool any = false;
    for (std::size_t i = 0; i < raws_.size(); ++i) {
      if (!raw(i).is_jump) continue;
      const std::uint64_t needed = 2 * (prefixes_of(jump_argument(i)) + 1u + info(i).caches);
      if (needed <= sizes_[i]) continue;
      sizes_[i] = needed;
      any = true;
    }
    return any;
  }

  void write_one(std::size_t index, std::span<std::uint8_t> place) const {
    if (const auto replacement = replacements_.find(index); replacement != replacements_.end())
      return write_all(place, table_, replacement->second);
    const std::uint32_t prefixes = static_cast<std::uint32_t>(place.size() / 2) - 1 - info(index).caches;
    const std::uint32_t arg = raw(index).is_jump ? jump_argument(index) : argument_as_written(index);
    write(place, table_, code_.bytecode[raw(index).at], arg, prefixes);
    const auto caches = code_.bytecode.begin() + raw(index).at + 2;
    std::copy(caches, code_.bytecode.begin() + raw(index).end, place.end() - (raw(index).end - raw(index).at - 2));
  }

  // An instruction without an argument also has a byte for an argument, and the value of that byte is kept.
  std::uint32_t argument_as_written(std::size_t index) const {
    std::uint32_t arg = 0;
    for (std::uint32_t at = raw(index).offset; at <= raw(index).at; at += 2) arg = arg << 8 | code_.bytecode[at + 1];
    return arg;
  }

  const CodeObject& code_;
  const OpcodeTable& table_;
  const std::vector<RawInstruction>& raws_;
  const Replacements& replacements_;
  std::vector<std::uint64_t> sizes_, offsets_;  // in bytes, for each instruction
};

}  // namespace

bool replace_instructions(CodeObject& code, const std::vector<RawInstruction>& raws, const Replacements& replacements) {
  const OpcodeTable& table = *opcode_table(code.version);
  if (fits(table, raws, replacements)) {
    for (const auto& [index, instructions] : replacements) {
      const RawInstruction& raw = raws[index];
      write_all(std::span(code.bytecode).subspan(raw.offset, raw.end - raw.offset), table, instructions);
    }
    return true;
  }
  return lay_out_anew(code, raws, replacements);
}

bool lay_out_anew(CodeObject& code, const std::vector<RawInstruction>& raws, const Replacements& replacements) {
  Layout layout(code, raws, replacements);
  if (!layout.lay_out()) return false;
  layout.write_to(code);
  return true;
}

}  // namespace depyf
