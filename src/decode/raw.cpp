#include "decode/raw.h"

#include <algorithm>
#include <limits>
#include <string>

#include "depyf/code_object.h"
#include "dialect/dialect.h"

namespace depyf {
namespace {

using Kind = OpcodeInfo::Argument;

// Returns the target of a jump as an offset in bytes, or -1 if `kind` is no jump. `next` is the offset behind the
// instruction and its caches.
std::int64_t jump_target(Kind kind, std::uint32_t arg, std::uint32_t next, std::uint32_t jump_unit) {
  std::int64_t distance = static_cast<std::int64_t>(arg) * jump_unit;
  switch (kind) {
    case Kind::jump_forward: return next + distance;
    case Kind::jump_backward: return next - distance;
    case Kind::jump_absolute: return distance;
    case Kind::none:
    case Kind::number:
    case Kind::constant:
    case Kind::name:
    case Kind::local:
    case Kind::free:
    case Kind::compare: return -1;
  }
  return -1;
}

// Marks the instructions that jumps and handlers lead to. The targets of jumps are converted from byte offsets to
// indices of instructions.
Result<bool> mark_targets(const CodeObject& code, std::vector<RawInstruction>& raws) {
  for (RawInstruction& raw : raws) {
    if (!raw.is_jump) continue;
    std::size_t index = starts_at(raws, raw.target);
    if (index == raws.size()) return Error{"a jump to where no instruction starts", raw.offset};
    raws[index].is_target = true;
    raw.target = static_cast<std::uint32_t>(index);
  }
  for (const ExceptionEntry& entry : code.exceptions) {
    std::size_t index = starts_at(raws, entry.target);
    if (index == raws.size()) return Error{"an exception handler where no instruction starts", entry.target};
    raws[index].is_target = true;
  }
  return true;
}

}  // namespace

RawReader::RawReader(const CodeObject& code) {
  const std::vector<std::uint8_t>& bytes = code.bytecode;
  const OpcodeTable* table = opcode_table(code.version);
  if (!table) {
    fail("a version of Python that is not known", 0);
  } else if (bytes.empty() || bytes.size() % 2 || bytes.size() > std::numeric_limits<std::int32_t>::max()) {
    fail("bytecode of impossible size", bytes.size());
  } else {
    table_ = table->data(), bytes_ = bytes.data();
    size_ = static_cast<std::uint32_t>(bytes.size());
    jump_unit_ = dialect_of(code.version).jump_unit;
  }
}

// Reads an instruction that begins with EXTENDED_ARG or is malformed. Returns false and records an error if the
// instruction is malformed.
bool RawReader::next_unusual(RawInstruction& raw) {
  raw.offset = raw.at = next_;
  std::uint32_t high = 0;  // the high bytes of the argument
  for (; opcode_at(raw.at) == Opcode::EXTENDED_ARG; raw.at += 2) {
    if (high > 0xffff) return fail("more than three EXTENDED_ARG", raw.at);
    high = high << 8 | bytes_[raw.at + 1];
  }
  if (raw.at == size_) return fail("EXTENDED_ARG without an instruction", raw.offset);
  const OpcodeInfo& info = table_[bytes_[raw.at]];
  if (info.opcode == Opcode::none) return fail("unknown opcode " + std::to_string(bytes_[raw.at]), raw.at);
  raw.arg = info.argument == Kind::none ? 0 : high << 8 | bytes_[raw.at + 1];
  if (raw.arg > std::numeric_limits<std::int32_t>::max()) return fail("argument out of range", raw.at);
  if (size_ - raw.at < info.size()) return fail("an instruction that is cut off", raw.at);
  return finish(raw, info);
}

bool RawReader::read_target(RawInstruction& raw, const OpcodeInfo& info) {
  const std::int64_t target = jump_target(info.argument, raw.arg, raw.end, jump_unit_);
  if (target < 0 || target >= size_) return fail("a jump out of the bytecode", raw.at);
  raw.target = static_cast<std::uint32_t>(target);
  return true;
}

// Records an error, moves the reader to the end of the bytecode and returns false.
bool RawReader::fail(std::string message, std::size_t offset) {
  error_ = Error{std::move(message), offset};
  next_ = size_;
  return false;
}

Result<std::vector<RawInstruction>> read_raw(const CodeObject& code) {
  std::vector<RawInstruction> raws;
  raws.reserve(code.bytecode.size() / 2);
  RawReader reader(code);
  for (RawInstruction raw; reader.next(raw);) raws.push_back(raw);
  if (!reader.ok()) return reader.error();
  if (Result<bool> marked = mark_targets(code, raws); !marked) return marked.error();
  return raws;
}

std::size_t first_at(const std::vector<RawInstruction>& raws, std::uint32_t offset) {
  auto found = std::lower_bound(raws.begin(), raws.end(), offset,
                                [](const RawInstruction& raw, std::uint32_t value) { return raw.at < value; });
  return static_cast<std::size_t>(found - raws.begin());
}

std::size_t starts_at(const std::vector<RawInstruction>& raws, std::uint32_t offset) {
  auto found = std::lower_bound(raws.begin(), raws.end(), offset,
                                [](const RawInstruction& raw, std::uint32_t value) { return raw.offset < value; });
  if (found == raws.end() || found->offset != offset) return raws.size();
  return static_cast<std::size_t>(found - raws.begin());
}

std::vector<bool> target_units(const CodeObject& code) {
  std::vector<bool> units(code.bytecode.size() / 2);
  const auto mark = [&](std::uint32_t offset) {
    if (offset / 2 < units.size()) units[offset / 2] = true;
  };
  RawReader reader(code);
  for (RawInstruction raw; reader.next(raw);)
    if (raw.is_jump) mark(raw.target);
  for (const ExceptionEntry& entry : code.exceptions) mark(entry.target);
  return units;
}

}  // namespace depyf
