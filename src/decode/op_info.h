// Defines the constexpr table of the rows of `op.def`.
#pragma once

#include <array>
#include <iterator>
#include <type_traits>

#include "decode/op.h"
#include "dialect/dialect.h"

namespace depyf {

// The meaning of an operation's argument. `decode` refuses code with an argument that is out of range.
enum class Argument : std::uint8_t {
  none,
  number,           // a number of values, or a choice between forms of the operation
  depth,            // a place on the stack, counted from 1 at the top
  small_int,        // the integer that is pushed, at least -1
  constant,         // an index that DecodedCode::constant takes
  common_constant,  // a CommonName
  local,            // an entry of localsplus: a fast local, a cell or a free variable
  cell,             // an entry of localsplus that is a cell or a free variable
  name,             // an entry of co_names
  unpacked,         // a number of values that the operation pushes
  slice_parts,      // 2 or 3
  special,          // a method that the with statement looks up, 0 to 3
  conversion,       // the conversion of an interpolation, 0 to 3
  raised,           // the number of operands of a raise statement, 0 to 2
  intrinsic_1,      // an Intrinsic1
  intrinsic_2,      // an Intrinsic2
};

// States where control goes after an operation. Any operation may also raise an exception.
enum class Control : std::uint8_t {
  next,
  jump,          // control goes to the target
  test,          // control goes to the target or the next operation, by the truth of the top value, which is popped
  keeping_test,  // like `test`, but the top value stays on the stack if the operation jumps
  branch,        // control goes to the target or the next operation, for another reason than the truth of a value
  handler,       // control goes to the next operation, and exceptions that are raised from there on go to the target
  subroutine,    // control goes to the target, whose code returns to the next operation (CALL_FINALLY)
  leave,         // control leaves the frame, or goes to an exception handler
};

// The objects that an operation may change besides the stack and fast locals. An operation that runs code of the
// program may change anything. Operators and loads of attributes are assumed to change nothing, although they may call
// methods.
enum class Effects : std::uint8_t {
  none,
  in_place,  // may change the left operand, if aux is not 0
  runs,      // may change anything
};

// A number of values on the stack, which may depend on the fields of the instruction.
struct Count {
  std::int8_t fixed = 0, arg = 0, arg_bits = 0, aux = 0, aux_bit = 0, has_aux = 0;

  constexpr Count() = default;
  // The conversion is implicit, so that a row of the table may contain just 1.
  constexpr Count(int number) : fixed(static_cast<std::int8_t>(number)) {}

  constexpr bool is_fixed() const { return !(arg | arg_bits | aux | aux_bit | has_aux); }
  constexpr std::int32_t of(const Instruction& it) const {
    if (is_fixed()) return fixed;
    const std::int32_t bits = (it.arg & 1) + (it.arg >> 1 & 1) + (it.arg >> 2 & 1) + (it.arg >> 3 & 1);
    return fixed + arg * it.arg + arg_bits * bits + aux * it.aux + aux_bit * (it.aux & 1) + has_aux * (it.aux != 0);
  }
};

// The numbers of values that an operation pops and pushes, and the condition under which these numbers apply.
struct Picture {
  bool Dialect::* fact = nullptr;  // the fact about the version that is checked; null for all versions
  bool is_wanted = true;          // the value that the fact must have
  bool only_where_it_jumps = false;
  Count pops, pushes, stays;  // `stays`: the number of the lowest popped values that are also the lowest pushed values
};

// The constants and functions that the rows of `op.def` use, and the table of these rows.
namespace op_rows {

// Up to 3.10, an exception takes six values on the stack: first the exception that was being handled, then the new
// exception, each as traceback, value and type. In 3.8, a finally clause that is entered without an exception has a
// single value (NULL or a return address) in place of the six values of an exception, but the compiler counts six.
inline constexpr int exception_values = 6;

constexpr Count counting(std::int8_t Count::* source) {
  Count count;
  count.*source = 1;
  return count;
}
inline constexpr Count arg = counting(&Count::arg), arg_bits = counting(&Count::arg_bits), aux = counting(&Count::aux),
                       aux_bit = counting(&Count::aux_bit), has_aux = counting(&Count::has_aux);

constexpr Count operator+(Count left, const Count& right) {
  for (auto part : {&Count::fixed, &Count::arg, &Count::arg_bits, &Count::aux, &Count::aux_bit, &Count::has_aux})
    left.*part = static_cast<std::int8_t>(left.*part + right.*part);
  return left;
}
constexpr Count operator*(int times, Count count) {
  for (auto part : {&Count::fixed, &Count::arg, &Count::arg_bits, &Count::aux, &Count::aux_bit, &Count::has_aux})
    count.*part = static_cast<std::int8_t>(count.*part * times);
  return count;
}

struct Keeps {
  Count stays;
};
constexpr Keeps keeps(Count stays) { return {stays}; }
constexpr Picture when(bool Dialect::* fact, Count pops, Count pushes, Count stays = 0) {
  return {fact, true, false, pops, pushes, stays};
}
constexpr Picture unless(bool Dialect::* fact, Count pops, Count pushes, Count stays = 0) {
  return {fact, false, false, pops, pushes, stays};
}
constexpr Picture where_it_jumps(Count pops, Count pushes, Count stays = 0) {
  return {nullptr, true, true, pops, pushes, stays};
}
constexpr Picture where_it_jumps_unless(bool Dialect::* fact, Count pops, Count pushes, Count stays = 0) {
  return {fact, false, true, pops, pushes, stays};
}

}  // namespace op_rows

struct OpInfo {
  std::string_view name;
  Argument argument = Argument::none;
  Control control = Control::next;
  Effects effects = Effects::none;
  std::uint8_t pictures_count = 0;
  bool is_fixed = false;  // true if the counts depend neither on the version nor on the fields of the instruction
  std::array<Picture, 3> pictures = {};  // the first picture that fits applies; the last one always fits
};

namespace op_rows {

template <class... Details>
constexpr OpInfo row(std::string_view name, Count pops, Count pushes, Argument argument, Control control,
                     Effects effects, Details... details) {
  OpInfo info{.name = name, .argument = argument, .control = control, .effects = effects};
  Picture usual{.pops = pops, .pushes = pushes, .stays = 0};
  [[maybe_unused]] auto take = [&](const auto& detail) {
    if constexpr (std::is_same_v<decltype(detail), const Keeps&>) usual.stays = detail.stays;
    else info.pictures[info.pictures_count++] = detail;
  };
  (take(details), ...);
  info.is_fixed = info.pictures_count == 0 && pops.is_fixed() && pushes.is_fixed();
  info.pictures[info.pictures_count++] = usual;
  return info;
}

inline constexpr OpInfo all[] = {
#define OP(name, pops, pushes, argument, control, effects, ...) \
  row(#name, pops, pushes, Argument::argument, Control::control, Effects::effects __VA_OPT__(, ) __VA_ARGS__),
#include "decode/op.def"
#undef OP
};

// Checks that op_names.def, which defines Op, lists the names of the rows of op.def in the same order.
inline constexpr Op named[] = {
#define OP(name, ...) Op::name##_,
#include "decode/op.def"
#undef OP
};
static_assert(std::size(named) == op_count);
static_assert([] {
  for (std::size_t row = 0; row < op_count; ++row)
    if (named[row] != Op(row)) return false;
  return true;
}());

// False for a row of op.def whose columns contradict each other, such as a row that states what the operation pops and
// pushes if it jumps, although the operation has no jump target.
constexpr bool is_sound(const OpInfo& info) {
  if (info.name == "unknown") return true;
  const bool has_target = info.control != Control::next && info.control != Control::leave;
  for (std::size_t index = 0; index < info.pictures_count; ++index) {
    const Picture& picture = info.pictures[index];
    if (picture.only_where_it_jumps && !has_target) return false;
    const bool is_counted = picture.pops.is_fixed() && picture.pushes.is_fixed() && picture.stays.is_fixed();
    if (is_counted && picture.stays.fixed > picture.pops.fixed) return false;
    if (is_counted && picture.stays.fixed > picture.pushes.fixed) return false;
    if (picture.pops.fixed < 0 || picture.pushes.fixed < 0) return false;
  }
  const bool is_test = info.control == Control::test || info.control == Control::keeping_test;
  return !is_test || info.pictures[info.pictures_count - 1].pops.fixed == 1;
}
static_assert([] {
  for (const OpInfo& info : all)
    if (!is_sound(info)) return false;
  return true;
}());

}  // namespace op_rows

constexpr const OpInfo& info_of(Op op) { return op_rows::all[static_cast<std::size_t>(op)]; }

constexpr bool uses_name(Op op) { return info_of(op).argument == Argument::name; }
constexpr bool uses_cell(Op op) { return info_of(op).argument == Argument::cell; }
// True if the argument is a fast local, a cell or a free variable.
constexpr bool uses_local(Op op) { return info_of(op).argument == Argument::local || uses_cell(op); }

// True if control never goes from the operation to another operation of the same code object, except to a handler.
constexpr bool leaves_frame(Op op) { return info_of(op).control == Control::leave; }
// True if the operation jumps depending on the truth of the top value, whether it pops that value or keeps it.
constexpr bool tests_truth(Op op) {
  return info_of(op).control == Control::test || info_of(op).control == Control::keeping_test;
}
// True if the operation adds a value to a list, set or dict that lies `arg` places below the value.
constexpr bool adds_to_display(Op op) {
  return info_of(op).argument == Argument::depth && op != Op::copy_ && op != Op::swap_ && op != Op::rotate_;
}

// True if the instruction may change anything besides the stack and fast locals.
constexpr bool has_effects(const Instruction& it) {
  const Effects effects = info_of(it.op).effects;
  return effects == Effects::runs || (effects == Effects::in_place && it.aux != 0);
}

}  // namespace depyf
