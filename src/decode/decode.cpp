#include "decode/decode.h"
#include "decode/op.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "decode/lower.h"
#include "decode/op_info.h"
#include "depyf/code_object.h"

namespace depyf {
namespace {

// Fills in the names of the slots: locals, then cells, then free variables. From 3.11 on, a cell that is also a local
// shares the local's slot; up to 3.10, only a cell that is also an argument does.
void name_slots(DecodedCode& decoded) {
  const CodeObject& code = *decoded.code;
  decoded.cell_count = static_cast<std::int32_t>(code.cellvars.size());
  if (code.cellvars.empty() && code.freevars.empty()) {
    decoded.localsplus.assign(code.varnames.begin(), code.varnames.end());
    decoded.is_cell.clear(code.varnames.size());
    decoded.first_cell = decoded.first_free = static_cast<std::int32_t>(code.varnames.size());
    return;
  }
  struct Cell {
    std::string_view name;
    bool is_shared;  // true if a local has the same name, so that the local and the cell share a slot
  };
  std::vector<Cell> cells;
  for (const std::string& name : code.cellvars) cells.push_back({name, false});
  std::ranges::sort(cells, {}, &Cell::name);
  const auto cell_of = [&](std::string_view name) {
    const auto cell = std::ranges::lower_bound(cells, name, {}, &Cell::name);
    return cell != cells.end() && cell->name == name ? &*cell : nullptr;
  };
  std::int64_t sharing =
      code.version < Version{3, 11} ? code.argument_count() : std::numeric_limits<std::int64_t>::max();
  std::int64_t index = 0;
  decoded.localsplus.reserve(code.varnames.size() + code.cellvars.size() + code.freevars.size());
  for (const std::string& name : code.varnames) {
    Cell* const cell = index++ < sharing ? cell_of(name) : nullptr;
    const bool is_cell = cell && !std::exchange(cell->is_shared, true);
    decoded.localsplus.push_back(name);
    decoded.is_cell.push_back(is_cell);
  }
  decoded.first_cell = static_cast<std::int32_t>(decoded.localsplus.size());
  for (const std::string& name : code.cellvars) {
    if (cell_of(name)->is_shared) continue;
    decoded.localsplus.push_back(name);
    decoded.is_cell.push_back(true);
  }
  decoded.first_free = static_cast<std::int32_t>(decoded.localsplus.size());
  for (const std::string& name : code.freevars) {
    decoded.localsplus.push_back(name);
    decoded.is_cell.push_back(true);
  }
}

// The bound of co_stacksize, and the default bound of the arguments of operations. Twice this number still fits in 32
// bits.
constexpr std::int32_t count_max = 1 << 28;

// Returns co_stacksize, but at most a bound that depends on the length of the bytecode: a malformed file may contain a
// huge number, and later stages allocate memory for each stack item. In valid code, the number of instructions bounds
// the number of values on the stack, because each value is pushed by an instruction of its own. A single
// UNPACK_SEQUENCE may push many values, but a different instruction uses each of them.
std::int32_t stack_size(const CodeObject& code) {
  constexpr std::size_t least = 256, most_at_once = 16;  // `most_at_once`: stack items allowed per instruction
  const std::size_t reachable = least + code.bytecode.size() / 2 * most_at_once;
  return std::clamp(code.stacksize, 0, std::int32_t(std::min(reachable, std::size_t{count_max})));
}

// The arguments that an operation may have: the `count` numbers from `least` on.
struct Range {
  std::int32_t least = 0;
  std::uint32_t count = count_max;

  bool contains(std::int32_t arg) const {
    return static_cast<std::uint32_t>(arg) - static_cast<std::uint32_t>(least) < count;
  }
};

Range range_of(Argument argument, const DecodedCode& decoded, std::int32_t unpacked_most) {
  const auto indices_of = [](const auto& list) { return Range{.count = static_cast<std::uint32_t>(list.size())}; };
  const auto up_to = [](auto last) { return Range{.count = static_cast<std::uint32_t>(last) + 1}; };
  switch (argument) {
    case Argument::none:
    case Argument::number: return {};
    case Argument::depth: return {.least = 1, .count = count_max - 1};
    case Argument::small_int: return {.least = -1, .count = count_max + 1};
    case Argument::constant: return {.count = static_cast<std::uint32_t>(decoded.constant_count())};
    case Argument::common_constant: return up_to(CommonName::set);
    case Argument::local:
    case Argument::cell: return indices_of(decoded.localsplus);
    case Argument::name: return indices_of(decoded.names);
    case Argument::unpacked: return up_to(unpacked_most);
    case Argument::slice_parts: return {.least = 2, .count = 2};
    case Argument::special:
    case Argument::conversion: return up_to(3);
    case Argument::raised: return up_to(2);
    case Argument::intrinsic_1: return up_to(Intrinsic1::typealias);
    case Argument::intrinsic_2: return up_to(Intrinsic2::set_typeparam_default);
  }
  return {};
}

// The columns of the table of operations that `finish` needs, packed so that they fit in a few cache lines.
struct Check {
  Argument argument = Argument::none;
  bool has_more = false;  // true if `finish` checks more than the range of the argument
};
constexpr std::array<Check, op_count> checks = [] {
  std::array<Check, op_count> all{};
  for (std::size_t op = 0; op < op_count; ++op) {
    const OpInfo& info = info_of(static_cast<Op>(op));
    const bool has_target = info.control != Control::next && info.control != Control::leave;
    all[op] = {.argument = info.argument,
               .has_more = has_target || info.argument == Argument::unpacked || info.argument == Argument::cell};
  }
  return all;
}();

// Converts the targets of jumps into indices of operations. Returns an error if no instruction starts at the target of
// a jump, or if an argument is out of the range of its operation; otherwise true.
Result<bool> finish(DecodedCode& decoded, const OperationMap& operations) {
  // The compiler ignores unreachable code when it computes co_stacksize, and unreachable code unpacks a few values at
  // most.
  constexpr std::int32_t unpacked_when_unreachable = 32;
  const std::int32_t unpacked_most = std::max(stack_size(*decoded.code), unpacked_when_unreachable);
  std::array<Range, static_cast<std::size_t>(Argument::intrinsic_2) + 1> ranges;
// In the unrolled loop, each kind is a constant, and `range_of` needs no branch.
#pragma GCC unroll 32
  for (std::size_t kind = 0; kind < ranges.size(); ++kind)
    ranges[kind] = range_of(static_cast<Argument>(kind), decoded, unpacked_most);
  for (Instruction& it : decoded.instructions) {
    const auto [argument, has_more] = checks[static_cast<std::size_t>(it.op)];
    if (!ranges[static_cast<std::size_t>(argument)].contains(it.arg)) [[unlikely]] {
      return Error{std::string(op_name(it.op)) + ": argument " + std::to_string(it.arg) + " out of range", it.offset};
    }
    if (!has_more) continue;
    if (it.target >= 0) {
      it.target = operations.at(static_cast<std::uint32_t>(std::int32_t{it.target}));
      if (it.target < 0) return Error{"a jump to where no instruction starts", it.offset};
    } else if (argument == Argument::unpacked) {
      if (it.op == Op::unpack_ex_ && it.aux > unpacked_most) return Error{"argument out of range", it.offset};
    } else if (argument == Argument::cell && !decoded.is_cell[static_cast<std::size_t>(it.arg)]) {
      return Error{std::string(op_name(it.op)) + " of what is no cell", it.offset};
    }
  }
  return true;
}

Result<bool> resolve_ranges(DecodedCode& decoded, const OperationMap& operations) {
  const std::vector<ExceptionEntry>& exceptions = decoded.code->exceptions;
  const auto depth_most = static_cast<std::uint32_t>(stack_size(*decoded.code));
  const auto count = static_cast<std::int32_t>(decoded.instructions.size());
  decoded.ranges.reserve(exceptions.size());
  for (const ExceptionEntry& entry : exceptions) {
    ProtectedRange range{.begin = operations.at_or_behind(entry.start, count),
                         .end = operations.at_or_behind(entry.end, count),
                         .target = operations.at(entry.target),
                         .depth = static_cast<std::int32_t>(entry.depth),
                         .lasti = entry.lasti};
    if (range.target < 0) return Error{"an exception handler where no instruction starts", entry.target};
    if (entry.depth > depth_most) return Error{"an exception handler out of range", entry.start};
    if (range.begin < range.end) decoded.ranges.push_back(range);
  }
  return true;
}

Constant of_kind(Constant::Kind kind) {
  Constant constant;
  constant.kind = kind;
  return constant;
}

const Constant& common_constant(std::size_t index) {
  static const Constant common[common_constants] = {of_kind(Constant::Kind::none), of_kind(Constant::Kind::string),
                                                    of_kind(Constant::Kind::true_), of_kind(Constant::Kind::false_)};
  return common[index];
}

}  // namespace

bool DecodedCode::is_async_generator() const { return (code->flags & CodeObject::async_generator) != 0; }

bool DecodedCode::has_fast_locals() const { return (code->flags & CodeObject::optimized) != 0; }

bool DecodedCode::is_class_body() const { return !(code->flags & CodeObject::new_locals) && name != "<module>"; }

void DecodedCode::set_code(const CodeObject& of) {
  code = &of, version = of.version, name = of.name;
  names = of.names, constants = of.constants, positions = of.positions;
}

const Constant& DecodedCode::constant(std::int32_t index) const {
  const auto place = static_cast<std::size_t>(index), own = constants.size();
  return place < own ? constants[place] : common_constant(place - own);
}

std::int32_t DecodedCode::constant_count() const {
  return static_cast<std::int32_t>(constants.size()) + (version < Version{3, 15} ? 0 : common_constants);
}

Result<DecodedCode> decode(const CodeObject& code) {
  DecodedCode decoded;
  if (Result<bool> good = decode(code, decoded); !good) return good.error();
  return decoded;
}

Result<bool> decode(const CodeObject& code, DecodedCode& decoded) {
  decoded.set_code(code);
  name_slots(decoded);
  Result<OperationMap> operations = lower(decoded);
  if (!operations) return operations.error();
  if (Result<bool> good = finish(decoded, *operations); !good) return good.error();
  return resolve_ranges(decoded, *operations);
}

bool evaluates_type_parameters(const CodeObject& code) { return code.name.starts_with("<generic parameters of "); }

bool has_docstring_constant(const CodeObject& code) {
  if (!(code.flags & CodeObject::new_locals) || code.constants.empty()) return false;
  if (code.constants[0].kind != Constant::Kind::string) return false;
  return code.version >= Version{3, 14} ? (code.flags & CodeObject::has_docstring) != 0 : !code.name.starts_with("<");
}

}  // namespace depyf
