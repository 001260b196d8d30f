#include "prove/lockstep_same.h"

#include <algorithm>
#include <span>

#include "decode/decode.h"
#include "decode/equal_constants.h"
#include "decode/op_info.h"
#include "depyf/constant.h"

namespace depyf::lockstep {
namespace {

using Kind = Constant::Kind;

// The operations whose events (observable actions) are determined by the argument and the operands alone, and whose
// results are unknown values.
constexpr OpSet plain{
    Op::load_const_,  Op::load_fast_,       Op::store_fast_, Op::load_deref_,   Op::store_deref_,   Op::load_closure_,
    Op::load_global_, Op::load_name_,       Op::store_name_, Op::store_global_, Op::load_attr_,     Op::load_method_,
    Op::store_attr_,  Op::binary_op_,       Op::compare_op_, Op::binary_slice_, Op::binary_subscr_, Op::store_subscr_,
    Op::build_tuple_, Op::build_list_,      Op::build_map_,  Op::build_set_,    Op::build_string_,  Op::format_value_,
    Op::get_iter_,    Op::unpack_sequence_,
};
// Operations that in some cases have no event (observable action), several events, or one event together with the
// instructions behind them; `shows_more` recognises these cases.
constexpr OpSet unsure{Op::load_const_, Op::compare_op_, Op::build_list_, Op::build_tuple_};
// The operations that `are_next` accepts and that never raise an exception.
constexpr OpSet harmless{Op::load_const_, Op::store_fast_, Op::load_closure_, Op::build_tuple_, Op::build_list_};

constexpr OpSet calls{Op::call_, Op::call_function_}, attributes{Op::load_attr_, Op::load_method_};

// Returns true if the value is a whole object, so that it can be an operand.
bool is_operand(Value value) { return value > null_value && is_whole(value); }

bool are_same_operands(std::span<const Value> one, std::span<const Value> two) {
  return std::ranges::equal(one, two) && std::ranges::all_of(one, is_operand);
}

// Returns the callable of a call that has its callable in two slots; NULL if the slots hold a function and its self,
// or are malformed.
Value callable_in(std::span<const Value> slots) {
  const Value low = slots[0], high = slots[1];
  if (low == null_value) return high;
  return high == null_value || (high % parts == self_part && high - self_part == low) ? low : null_value;
}

}  // namespace

bool SameInstructions::are_next(Frames& frames) {
  const Frame &first = frames.sides[0], &second = frames.sides[1];
  // The place -1 of a frame that an exception has left is out of range, too, because it becomes a large unsigned
  // number.
  if (std::size_t(first.at) >= codes_[0].instructions.size()) return false;
  if (std::size_t(second.at) >= codes_[1].instructions.size()) return false;
  const Instruction& one = codes_[0].instructions[std::size_t(first.at)];
  const Instruction& two = codes_[1].instructions[std::size_t(second.at)];
  if (first.phase || second.phase || first.handled != second.handled) return false;
  op_ = one.op;
  pushes_self_[0] = one.op == Op::load_method_, pushes_self_[1] = two.op == Op::load_method_;
  if (calls.has(one.op) && calls.has(two.op)) return are_same_calls(one, two, frames);
  if (!plain.has(one.op) || one.aux != two.aux) return false;
  if (one.op != two.op && !(attributes.has(one.op) && attributes.has(two.op))) return false;
  if (unsure.has(one.op) && (shows_more(0, first.at) || shows_more(1, second.at))) return false;
  const StackEffect effect = stack_effect(one, codes_[0].version, false);
  pops_[0] = pops_[1] = std::size_t(effect.pops);
  pushes_ = std::size_t(effect.pushes - pushes_self_[0]);
  if (pops_[0] > std::min(first.stack.size(), second.stack.size())) return false;
  return are_same_operands(std::span(first.stack).last(pops_[0]), std::span(second.stack).last(pops_[0])) &&
         has_same_argument(one, two, frames);
}

// Returns true if the instruction has several events (observable actions) or no event, or if it has one event together
// with the instructions behind it.
bool SameInstructions::shows_more(int side, int at) const {
  const Code& code = codes_[side];
  const Instruction& instruction = code.instructions[std::size_t(at)];
  if (instruction.op == Op::compare_op_) return instruction.aux != 0;
  if (instruction.op == Op::load_const_) {
    const Kind kind = code.constant_at(at)->kind;
    const bool is_simple = kind == Kind::string || kind == Kind::integer || kind == Kind::real || kind == Kind::bytes;
    return !is_simple || code.op_at(at + 1) == Op::make_function_ || code.is_class_detail(at);
  }
  return instruction.arg == 0 || code.op_at(at + 1) == Op::unpack_sequence_;
}

bool SameInstructions::has_same_argument(const Instruction& one, const Instruction& two, Frames& frames) {
  const auto name = [&](int side, std::int32_t index) -> const std::string& {
    return codes_[side].decoded.names[std::size_t(index)];
  };
  if (uses_name(one.op)) return name(0, one.arg) == name(1, two.arg);
  if (uses_local(one.op)) return frames.shadows.empty() && pair_.same_slots(one.arg, two.arg, frames);
  if (one.op != Op::load_const_) return one.arg == two.arg;
  return equal_constants(codes_[0].decoded.constant(one.arg), codes_[1].decoded.constant(two.arg));
}

// Returns true if two calls without keyword arguments are the same, whether their callables are in one stack slot or in
// two.
bool SameInstructions::are_same_calls(const Instruction& one, const Instruction& two, const Frames& frames) {
  if (one.arg != two.arg || one.arg < 0) return false;
  const auto arguments = std::size_t(one.arg);
  Value callables[2];
  std::span<const Value> passed[2];
  for (int side = 0; side < 2; ++side) {
    const Instruction& call = side ? two : one;
    const std::span<const Value> stack = frames.sides[side].stack;
    const bool has_slots = call.op == Op::call_;
    pops_[side] = arguments + 1 + has_slots;
    if (pops_[side] > stack.size() || (has_slots && call.aux >= 0)) return false;
    const std::span<const Value> popped = stack.last(pops_[side]);
    callables[side] = has_slots ? callable_in(popped) : popped[0];
    passed[side] = popped.last(arguments);
  }
  pushes_ = 1;
  return callables[0] == callables[1] && is_operand(callables[0]) && are_same_operands(passed[0], passed[1]);
}

bool SameInstructions::may_raise() const { return !harmless.has(op_); }

void SameInstructions::execute(Frames& frames) {
  for (int side = 0; side < 2; ++side) {
    Frame& frame = frames.sides[side];
    frame.stack.erase(frame.stack.end() - std::ptrdiff_t(pops_[side]), frame.stack.end());
    ++frame.at;
  }
  for (std::size_t index = 0; index < pushes_; ++index) {
    const Value result = values_.fresh();
    for (Frame& frame : frames.sides) frame.stack.push_back(result);
  }
  for (int side = 0; side < 2; ++side)
    if (pushes_self_[side]) frames.sides[side].stack.push_back(frames.sides[side].stack.back() + self_part);
}

}  // namespace depyf::lockstep
