#include "decode/decode.h"
#include "decode/op.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <unordered_set>

#include "decode/lower.h"
#include "decode/op_info.h"
#include "decode/raw.h"
#include "depyf/code_object.h"

namespace depyf {
namespace {

// Fills in the names of the slots: locals, then cells, then free variables. A cell that is also a local shares its
// slot: always from 3.11 on; before, only if the frame moves an argument into the cell.
void name_slots(DecodedCode& decoded) {
  const CodeObject& code = *decoded.code;
  std::unordered_set<std::string_view> cells(code.cellvars.begin(), code.cellvars.end()), shared;
  std::int64_t sharing =
      code.version < Version{3, 11} ? code.argument_count() : std::numeric_limits<std::int64_t>::max();
  std::int64_t index = 0;
  decoded.localsplus.reserve(code.varnames.size() + code.cellvars.size() + code.freevars.size());
  for (const std::string& name : code.varnames) {
    bool is_cell = !cells.empty() && index++ < sharing && cells.contains(name) && shared.insert(name).second;
    decoded.localsplus.push_back(name);
    decoded.is_cell.push_back(is_cell);
  }
  decoded.first_cell = static_cast<std::int32_t>(decoded.localsplus.size());
  for (const std::string& name : code.cellvars) {
    if (shared.contains(name)) continue;
    decoded.localsplus.push_back(name);
    decoded.is_cell.push_back(true);
  }
  decoded.first_free = static_cast<std::int32_t>(decoded.localsplus.size());
  for (const std::string& name : code.freevars) {
    decoded.localsplus.push_back(name);
    decoded.is_cell.push_back(true);
  }
  decoded.cell_count = static_cast<std::int32_t>(code.cellvars.size());
}

constexpr std::int32_t count_max = 1 << 28;  // of stack items in one instruction: twice as many still count in 32 bits

// Returns the depth of the stack, with a bound. Each value on the stack takes an instruction that pushes it or, for an
// unpacking, one that uses it. A larger depth in a file is not believed, because stages allocate something for each
// value.
std::int32_t stack_size(const CodeObject& code) {
  constexpr std::size_t least = 256, most_at_once = 16;  // values that one instruction may push
  const std::size_t reachable = least + code.bytecode.size() / 2 * most_at_once;
  return std::clamp(code.stacksize, 0, std::int32_t(std::min(reachable, std::size_t{count_max})));
}

// Turns the targets of jumps into indices of operations, and checks each argument against the range that the operation
// has.
Result<bool> finish(DecodedCode& decoded, const std::vector<std::int32_t>& first) {
  const CodeObject& code = *decoded.code;
  // The compiler does not count unreachable code in the depth of the stack, and such code unpacks a few values at most.
  constexpr std::int32_t unpacked_when_unreachable = 32;
  const std::int32_t unpacked_most = std::max(stack_size(code), unpacked_when_unreachable);
  struct Range {
    std::int64_t least = 0, end = count_max;
  };
  auto range_of = [&](Argument argument) -> Range {
    switch (argument) {
      case Argument::none:
      case Argument::number: return {};
      case Argument::depth: return {.least = 1};
      case Argument::small_int: return {.least = -1};
      case Argument::constant: return {.end = decoded.constant_count()};
      case Argument::common_constant: return {.end = static_cast<std::int64_t>(CommonName::set) + 1};
      case Argument::local:
      case Argument::cell: return {.end = static_cast<std::int64_t>(decoded.localsplus.size())};
      case Argument::name: return {.end = static_cast<std::int64_t>(code.names.size())};
      case Argument::unpacked: return {.end = std::int64_t{unpacked_most} + 1};
      case Argument::slice_parts: return {.least = 2, .end = 4};
      case Argument::special:
      case Argument::conversion: return {.end = 4};
      case Argument::raised: return {.end = 3};
      case Argument::intrinsic_1: return {.end = static_cast<std::int64_t>(Intrinsic1::typealias) + 1};
      case Argument::intrinsic_2: return {.end = static_cast<std::int64_t>(Intrinsic2::set_typeparam_default) + 1};
    }
    return {};
  };
  std::array<Range, static_cast<std::size_t>(Argument::intrinsic_2) + 1> ranges;
  for (std::size_t kind = 0; kind < ranges.size(); ++kind) ranges[kind] = range_of(static_cast<Argument>(kind));
  for (Instruction& it : decoded.instructions) {
    if (it.target >= 0) it.target = first[static_cast<std::size_t>(it.target)];
    const Argument argument = info_of(it.op).argument;
    const Range& range = ranges[static_cast<std::size_t>(argument)];
    if (it.arg < range.least || it.arg >= range.end) [[unlikely]] {
      return Error{std::string(op_name(it.op)) + ": argument " + std::to_string(it.arg) + " out of range", it.offset};
    }
    if (it.op == Op::unpack_ex_ && it.aux > unpacked_most) return Error{"argument out of range", it.offset};
    if (argument == Argument::cell && !decoded.is_cell[static_cast<std::size_t>(it.arg)]) {
      return Error{std::string(op_name(it.op)) + " of what is no cell", it.offset};
    }
  }
  return true;
}

Result<bool> resolve_ranges(DecodedCode& decoded, const std::vector<RawInstruction>& raws,
                            const std::vector<std::int32_t>& first) {
  const auto count = static_cast<std::int32_t>(decoded.instructions.size());
  auto instruction = [&](std::size_t raw) { return raw < first.size() ? first[raw] : count; };
  for (const ExceptionEntry& entry : decoded.code->exceptions) {
    ProtectedRange range{.begin = instruction(first_at(raws, entry.start)),
                         .end = instruction(first_at(raws, entry.end)),
                         .target = instruction(starts_at(raws, entry.target)),
                         .depth = static_cast<std::int32_t>(entry.depth),
                         .lasti = entry.lasti};
    if (range.target == count || entry.depth > static_cast<std::uint32_t>(stack_size(*decoded.code))) {
      return Error{"an exception handler out of range", entry.start};
    }
    if (range.begin < range.end) decoded.ranges.push_back(range);
  }
  return true;
}

// Ends the code in an instruction that does not fall through. Unreachable code of compilers may run off its end (in 3.8
// behind a finally clause that returns), and so may malformed code.
void close(DecodedCode& decoded, const RawInstruction& last) {
  if (!decoded.instructions.empty()) {
    const Instruction& it = decoded.instructions.back();
    const bool ends = leaves_function(it.op) || it.op == Op::jump_;
    if (ends && it.offset == last.offset) return;
  }
  decoded.instructions.push_back({.op = Op::raise_, .size = 0, .offset = last.end});
}

Constant of_kind(Constant::Kind kind) {
  Constant constant;
  constant.kind = kind;
  return constant;
}

}  // namespace

const Constant& DecodedCode::constant(std::int32_t index) const {
  static const Constant common[common_constants] = {of_kind(Constant::Kind::none), of_kind(Constant::Kind::string),
                                                    of_kind(Constant::Kind::true_), of_kind(Constant::Kind::false_)};
  const auto place = static_cast<std::size_t>(index), own = code->constants.size();
  return place < own ? code->constants[place] : common[place - own];
}

std::int32_t DecodedCode::constant_count() const {
  return static_cast<std::int32_t>(code->constants.size()) + (code->version < Version{3, 15} ? 0 : common_constants);
}

Result<DecodedCode> decode(const CodeObject& code) {
  DecodedCode decoded;
  decoded.code = &code;
  Result<std::vector<RawInstruction>> raws = read_raw(code);
  if (!raws) return raws.error();
  name_slots(decoded);
  Result<std::vector<std::int32_t>> first = lower(*raws, decoded);
  if (!first) return first.error();
  close(decoded, raws->back());
  if (Result<bool> good = finish(decoded, *first); !good) return good.error();
  if (Result<bool> good = resolve_ranges(decoded, *raws, *first); !good) return good.error();
  return decoded;
}

bool has_docstring(const CodeObject& code) {
  if (!(code.flags & CodeObject::new_locals) || code.constants.empty()) return false;
  if (code.constants[0].kind != Constant::Kind::string) return false;
  return code.version >= Version{3, 14} ? (code.flags & CodeObject::has_docstring) != 0 : !code.name.starts_with("<");
}

}  // namespace depyf
