#include "decode/raw.h"

#include <algorithm>
#include <limits>
#include <string>

#include "depyf/code_object.h"
#include "dialect/dialect.h"

namespace depyf {
namespace {

using Kind = OpcodeInfo::Argument;

// Returns the target of a jump in bytes, or -1. `next` is the offset behind the instruction and its caches.
std::int64_t jump_target(Kind kind, std::uint32_t arg, std::uint32_t next, const Dialect& dialect) {
  std::int64_t distance = static_cast<std::int64_t>(arg) * dialect.jump_unit;
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

bool is_jump(const OpcodeInfo& info) {
  // In 3.14 the argument of END_ASYNC_FOR says only where the loop began, for sys.monitoring, so it is no jump.
  return info.argument >= Kind::jump_forward && info.opcode != Opcode::END_ASYNC_FOR;
}

// Marks the instructions that jumps and handlers lead to. The targets of `jumps` are converted from bytes to indices.
Result<bool> mark_targets(const CodeObject& code, const std::vector<std::size_t>& jumps,
                          std::vector<RawInstruction>& raws) {
  for (std::size_t jump : jumps) {
    std::size_t index = starts_at(raws, raws[jump].target);
    if (index == raws.size()) return Error{"a jump to where no instruction starts", raws[jump].offset};
    raws[index].is_target = true;
    raws[jump].target = static_cast<std::uint32_t>(index);
  }
  for (const ExceptionEntry& entry : code.exceptions) {
    std::size_t index = starts_at(raws, entry.target);
    if (index == raws.size()) return Error{"an exception handler where no instruction starts", entry.target};
    raws[index].is_target = true;
  }
  return true;
}

}  // namespace

Result<std::vector<RawInstruction>> read_raw(const CodeObject& code) {
  const OpcodeTable* table = opcode_table(code.version);
  if (!table) return Error{"a version of Python that is not known", 0};
  const std::vector<std::uint8_t>& bytes = code.bytecode;
  if (bytes.empty() || bytes.size() % 2 || bytes.size() > std::numeric_limits<std::int32_t>::max()) {
    return Error{"bytecode of impossible size", bytes.size()};
  }
  const Dialect& dialect = dialect_of(code.version);
  const auto size = static_cast<std::uint32_t>(bytes.size());
  std::vector<RawInstruction> raws;
  std::vector<std::size_t> jumps;  // indices of instructions
  raws.reserve(size / 2);
  const std::uint8_t* const units = bytes.data();
  std::uint32_t extended = 0, start = 0;
  for (std::uint32_t at = 0; at < size;) {
    const OpcodeInfo info = (*table)[units[at]];
    std::uint32_t arg = units[at + 1];
    if (info.opcode == Opcode::EXTENDED_ARG) [[unlikely]] {
      if (extended > 0xffff) return Error{"more than three EXTENDED_ARG", at};
      extended = extended << 8 | arg;
      at += 2;
      continue;
    }
    if (info.opcode == Opcode::none) [[unlikely]]
      return Error{"unknown opcode " + std::to_string(units[at]), at};
    if (extended) [[unlikely]] {
      arg |= extended << 8;
      const bool counts = info.argument != Kind::none;
      if (counts && arg > std::numeric_limits<std::int32_t>::max()) return Error{"argument out of range", at};
    }
    if (info.argument == Kind::none) arg = 0;
    const std::uint32_t end = at + 2 + 2u * info.caches;
    if (end > size) [[unlikely]]
      return Error{"an instruction that is cut off", at};
    RawInstruction& raw =
        raws.emplace_back(RawInstruction{.opcode = info.opcode, .arg = arg, .offset = start, .at = at, .end = end});
    if (is_jump(info)) {
      std::int64_t target = jump_target(info.argument, arg, end, dialect);
      if (target < 0 || target >= size) return Error{"a jump out of the bytecode", at};
      raw.is_jump = true;
      raw.target = static_cast<std::uint32_t>(target);
      jumps.push_back(raws.size() - 1);
    }
    at = start = end;
    extended = 0;
  }
  if (start != size) return Error{"EXTENDED_ARG without an instruction", start};
  if (Result<bool> marked = mark_targets(code, jumps, raws); !marked) return marked.error();
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

}  // namespace depyf
