// Executes the instructions that no other code observes, when two code objects are run in step; lockstep.cpp explains
// the method.
#include "prove/lockstep_silent.h"

#include <algorithm>
#include <ranges>

#include "decode/op.h"
#include "decode/op_table.h"
#include "depyf/constant.h"
#include "support/search_limits.h"

namespace depyf::lockstep {
namespace {

using Kind = Constant::Kind;

// Pushes the fixed number that stands for None, True or False. Returns false for a constant other than None, True and
// False, because the loads of other constants are compared as events.
bool push_singleton(std::vector<Value>& stack, const Constant& constant) {
  if (constant.kind == Kind::none) stack.push_back(none_value);
  else if (constant.kind == Kind::true_) stack.push_back(true_value);
  else if (constant.kind == Kind::false_) stack.push_back(false_value);
  else return false;
  return true;
}

// Pushes the next item of a constant tuple that is loaded item by item. Returns false if the load of the next item is
// an event, or if all items were loaded.
bool gather_singleton(Frame& frame, const Constant& gathered) {
  const auto index = std::size_t(frame.phase - 1);
  if (index >= gathered.items.size() || !push_singleton(frame.stack, gathered.items[index])) return false;
  ++frame.phase;
  return true;
}

// Restores the value that a local had before an inlined comprehension used it. Returns false if the value on top of the
// stack is not the saved value of the local.
bool restore(Frames& frames, int slot) {
  Frame& frame = frames.sides[0];
  Shadow* shadow = shadow_of(frames, slot);
  if (!shadow || shadow->saved != frame.stack.back()) return false;
  shadow->saved = 0;
  while (!frames.shadows.empty() && frames.shadows.back().saved == 0) frames.shadows.pop_back();
  frame.stack.pop_back();
  ++frame.at;
  return true;
}

// Pops the blocks of running handlers, and cuts the stack to the level of the next block (up to 3.10). Returns false if
// the stack is too short.
bool pop_to_handler(Frame& frame) {
  while (!frame.blocks.empty() && frame.blocks.back().target == is_running) {
    const int level = frame.blocks.back().level;
    if (!leave_handler(frame)) return false;
    frame.stack.resize(std::size_t(level));
  }
  if (frame.blocks.empty()) return true;
  const std::size_t level = std::size_t(std::max(frame.blocks.back().level, 0));
  if (level > frame.stack.size()) return false;
  frame.stack.resize(level);
  return true;
}

}  // namespace

bool SilentSteps::advance(int side, Frames& frames, bool& has_met) {
  static constexpr OpTable<Step> steps = {nullptr,
                                          {{{Op::nop_, Op::resume_}, &SilentSteps::pass},
                                           {{Op::jump_}, &SilentSteps::jump},
                                           {{Op::pop_top_, Op::end_for_, Op::pop_iter_}, &SilentSteps::pop},
                                           {{Op::copy_}, &SilentSteps::copy},
                                           {{Op::swap_, Op::rotate_}, &SilentSteps::move},
                                           {{Op::push_null_}, &SilentSteps::push_null},
                                           {{Op::load_const_}, &SilentSteps::load_const},
                                           {{Op::build_list_}, &SilentSteps::build_list},
                                           {{Op::build_tuple_}, &SilentSteps::build_tuple},
                                           {{Op::load_fast_and_clear_}, &SilentSteps::clear},
                                           {{Op::store_fast_}, &SilentSteps::store},
                                           {{Op::end_send_}, &SilentSteps::end_send},
                                           {{Op::return_generator_}, &SilentSteps::return_generator},
                                           {{Op::setup_finally_, Op::setup_async_with_, Op::pop_block_,
                                             Op::begin_finally_, Op::call_finally_, Op::end_finally_, Op::pop_finally_},
                                            &SilentSteps::block_stack},
                                           {{Op::with_cleanup_finish_}, &SilentSteps::with_cleanup_finish},
                                           {{Op::push_exc_info_}, &SilentSteps::push_exc_info},
                                           {{Op::pop_except_}, &SilentSteps::pop_except},
                                           {{Op::reraise_}, &SilentSteps::reraise},
                                           {{Op::to_bool_, Op::unary_op_, Op::compare_op_}, &SilentSteps::truth},
                                           {{Op::pop_jump_if_true_, Op::pop_jump_if_false_}, &SilentSteps::jump_if}}};
  const Code& code = codes_[side];
  Frame& frame = frames.sides[side];
  // More silent steps than `most_silent` mean that the code is in an endless loop without an event.
  const std::size_t most_silent = 2 * code.instructions.size() + search_limits::known_items;
  for (std::size_t count = 0; count <= most_silent; ++count) {
    if (frame.at == left_frame) return true;
    if (std::size_t(frame.at) >= code.instructions.size()) return false;
    // If paths meet at an instruction, `has_met` is set only before the instruction begins, and not between two of its
    // events.
    if (frame.phase == 0 && code.meets[std::size_t(frame.at)]) has_met = true;
    const Instruction& instruction = code.instructions[std::size_t(frame.at)];
    const Step step = steps[instruction.op];
    if (!step) return true;
    const Place place{side,
                      frames,
                      frame,
                      code,
                      instruction,
                      frame.stack,
                      frame.stack.size(),
                      std::size_t(std::max(instruction.arg, 0))};
    const Outcome outcome = (this->*step)(place);
    if (outcome != Outcome::silent) return outcome == Outcome::shows;
  }
  return false;
}

SilentSteps::Outcome SilentSteps::jump(const Place& place) {
  place.frame.at = place.instruction.target;
  return Outcome::silent;
}

SilentSteps::Outcome SilentSteps::pop(const Place& place) {
  if (place.depth < 1) return Outcome::fails;
  place.stack.pop_back();
  return next(place);
}

SilentSteps::Outcome SilentSteps::copy(const Place& place) {
  if (place.instruction.arg < 1 || place.depth < place.count) return Outcome::fails;
  place.stack.push_back(place.stack[place.depth - place.count]);
  return next(place);
}

SilentSteps::Outcome SilentSteps::move(const Place& place) {
  if (place.instruction.arg < 1 || place.depth < place.count) return Outcome::fails;
  std::vector<Value>& stack = place.stack;
  // SWAP exchanges the top with a lower slot; ROTATE moves the top below the next `arg - 1` values.
  if (place.instruction.op == Op::swap_) std::swap(stack[place.depth - 1], stack[place.depth - place.count]);
  else std::rotate(stack.end() - place.instruction.arg, stack.end() - 1, stack.end());
  return next(place);
}

SilentSteps::Outcome SilentSteps::push_null(const Place& place) {
  place.stack.push_back(null_value);
  return next(place);
}

// Loads a constant. The loads of None, True and False are silent, which means that they are not compared as events. The
// loads of keyword names and qualified names are silent, too, because these names are compared with the next
// instruction.
SilentSteps::Outcome SilentSteps::load_const(const Place& place) {
  const Constant& constant = place.code.decoded.constant(place.instruction.arg);
  if (place.frame.phase) return gather_singleton(place.frame, constant) ? Outcome::silent : Outcome::shows;
  const Op after = place.code.op_at(place.frame.at + 1);
  if (after == Op::call_kw_ || after == Op::call_function_kw_) place.stack.push_back(names_of_call);
  else if (after == Op::make_function_ && place.code.instructions[std::size_t(place.frame.at) + 1].aux)
    place.stack.push_back(qualified_name);
  else if (!push_singleton(place.stack, constant)) return Outcome::shows;
  return next(place);
}

// Loads the next item of a list of constants. Returns Outcome::shows if no list of constants starts at the instruction,
// if the load of the next item is an event, or if all items were loaded.
SilentSteps::Outcome SilentSteps::build_list(const Place& place) {
  if (!place.code.starts_list_of_constants(place.frame.at)) return Outcome::shows;
  if (place.frame.phase == 0) place.frame.phase = 1;
  const bool is_gathered = gather_singleton(place.frame, *place.code.constant_at(place.frame.at + 1));
  return is_gathered ? Outcome::silent : Outcome::shows;
}

// Executes the BUILD_TUPLE and UNPACK_SEQUENCE of `a, b = b, a` without an event, because the tuple is unpacked as
// soon as it is built.
SilentSteps::Outcome SilentSteps::build_tuple(const Place& place) {
  if (place.code.op_at(place.frame.at + 1) != Op::unpack_sequence_ ||
      place.code.instructions[std::size_t(place.frame.at) + 1].arg != place.instruction.arg)
    return Outcome::shows;
  if (place.instruction.arg < 0 || place.depth < place.count) return Outcome::fails;
  // BUILD_TUPLE and UNPACK_SEQUENCE of the same size together reverse the values on the stack.
  std::reverse(place.stack.end() - place.instruction.arg, place.stack.end());
  place.frame.at += 2;
  return Outcome::silent;
}

// Executes LOAD_FAST_AND_CLEAR, which starts a comprehension that was inlined into its function (3.12 and later).
SilentSteps::Outcome SilentSteps::clear(const Place& place) {
  return give_to_comprehension(place.side, place.frames) ? Outcome::silent : Outcome::fails;
}

// A negative number stands for the previous value of a local that an inlined comprehension uses; the store of this
// value ends the comprehension.
SilentSteps::Outcome SilentSteps::store(const Place& place) {
  if (place.depth < 1) return Outcome::fails;
  if (place.stack.back() >= 0) return Outcome::shows;
  return place.side == 0 && restore(place.frames, place.instruction.arg) ? Outcome::silent : Outcome::fails;
}

SilentSteps::Outcome SilentSteps::end_send(const Place& place) {
  if (place.depth < 2) return Outcome::fails;
  place.stack[place.depth - 2] = place.stack[place.depth - 1];
  place.stack.pop_back();
  return next(place);
}

// RETURN_GENERATOR (3.11 and later) is silent if the first code object is of 3.10 or earlier, where a generator
// starts without an instruction.
SilentSteps::Outcome SilentSteps::return_generator(const Place& place) {
  if (codes_[0].has_table) return Outcome::shows;
  place.stack.push_back(generator_start);
  return next(place);
}

SilentSteps::Outcome SilentSteps::with_cleanup_finish(const Place& place) {
  if (place.depth < 2) return Outcome::fails;
  // A None below the result of `__exit__` means that no exception was raised, so the result is ignored.
  if (place.stack[place.depth - 2] != none_value) return Outcome::shows;
  place.stack.resize(place.depth - 2);
  return next(place);
}

// Executes PUSH_EXC_INFO: the exception on top of the stack becomes the handled exception, and the previously handled
// exception is inserted below it.
SilentSteps::Outcome SilentSteps::push_exc_info(const Place& place) {
  if (place.depth < 1 || !place.code.has_table) return Outcome::fails;
  const Value exception = place.stack.back();
  place.stack.back() = place.frame.handled;
  place.stack.push_back(exception);
  place.frame.handled = exception;
  return next(place);
}

SilentSteps::Outcome SilentSteps::pop_except(const Place& place) {
  Frame& frame = place.frame;
  const std::size_t depth = place.depth;
  if (depth < 1) return Outcome::fails;
  if (place.code.has_table) {
    frame.handled = place.stack.back();
    place.stack.pop_back();
    return next(place);
  }
  // Up to 3.10, the three values of the previously handled exception must lie above the level of the running handler.
  if (depth < exception_values || frame.blocks.empty() || frame.blocks.back().target != is_running ||
      std::size_t(frame.blocks.back().level) + exception_values > depth || !is_whole(place.stack[depth - 2]))
    return Outcome::fails;
  frame.blocks.pop_back();
  frame.handled = place.stack[depth - 2];
  place.stack.resize(depth - exception_values);
  return next(place);
}

SilentSteps::Outcome SilentSteps::reraise(const Place& place) {
  const bool has_table = place.code.has_table;
  if (place.depth < (has_table ? 1 : exception_values)) return Outcome::fails;
  return unwind(place.side, place.frame, place.stack[place.depth - (has_table ? 1 : 2)]) ? Outcome::silent
                                                                                         : Outcome::fails;
}

// Executes the truth test or the negation of a boolean, which no other code observes. COMPARE_OP is silent only in its
// second half, which converts the result to a boolean.
SilentSteps::Outcome SilentSteps::truth(const Place& place) {
  const bool negates = place.instruction.op == Op::unary_op_;
  if (negates && static_cast<UnaryOp>(place.instruction.arg) != UnaryOp::not_) return Outcome::shows;
  if (place.instruction.op == Op::compare_op_ && place.frame.phase == 0) return Outcome::shows;
  if (place.depth < 1) return Outcome::fails;
  if (!values_.is_truth(place.stack.back())) return Outcome::shows;
  if (negates) place.stack.back() = negation(place.stack.back());
  place.frame.phase = 0;
  return next(place);
}

// A conditional jump on None, True or False has only one outcome, so it is no branch.
SilentSteps::Outcome SilentSteps::jump_if(const Place& place) {
  if (place.depth < 1) return Outcome::fails;
  const Value tested = place.stack.back();
  if (!is_known_truth(tested)) return Outcome::shows;
  place.stack.pop_back();
  const bool jumps = (tested == true_value) == (place.instruction.op == Op::pop_jump_if_true_);
  return jumps ? jump(place) : next(place);
}

SilentSteps::Outcome SilentSteps::block_stack(const Place& place) {
  return run_block_stack(place.side, place.frame) ? Outcome::silent : Outcome::fails;
}

// Executes LOAD_FAST_AND_CLEAR. In the first code object, LOAD_FAST_AND_CLEAR gives the local to a comprehension,
// which a new Shadow records. In the second code object, LOAD_FAST_AND_CLEAR must be followed by POP_TOP; the two
// instructions clear the variable of a comprehension.
bool SilentSteps::give_to_comprehension(int side, Frames& frames) {
  Frame& frame = frames.sides[side];
  const Code& code = codes_[side];
  const int slot = code.instructions[std::size_t(frame.at)].arg;
  if (side == 0) {
    const Value saved = -parts * ++saved_;
    frames.shadows.push_back({slot, -1, saved});
    frame.stack.push_back(saved);
    ++frame.at;
    return true;
  }
  int& partner = codes_[1].slot_partner[std::size_t(slot)];
  if (code.op_at(frame.at + 1) != Op::pop_top_ || partner >= 0) return false;
  partner = is_shadow;
  for (Shadow& shadow : frames.shadows)
    if (shadow.partner == slot) shadow.partner = -1;
  frame.at += 2;
  return true;
}

// Executes the instructions of the block stack, and those by which 3.8 runs the body of a finally clause as a
// subroutine. At the start of a finally body, the top of the stack is NULL, a return address, or an exception class.
bool SilentSteps::run_block_stack(int side, Frame& frame) const {
  const Code& code = codes_[side];
  if (code.has_table) return false;
  const Instruction& instruction = code.instructions[std::size_t(frame.at)];
  std::vector<Value>& stack = frame.stack;
  const std::size_t depth = stack.size();
  const Op op = instruction.op;
  if (op == Op::setup_finally_) {
    frame.blocks.push_back({instruction.target, int(depth)});
  } else if (op == Op::setup_async_with_) {
    if (depth < 1) return false;
    frame.blocks.push_back({instruction.target, int(depth) - 1});
  } else if (op == Op::pop_block_) {
    if (frame.blocks.empty() || frame.blocks.back().target == is_running) return false;
    frame.blocks.pop_back();
  } else if (op == Op::begin_finally_) {
    stack.push_back(null_value);
  } else if (op == Op::call_finally_) {
    stack.push_back(Value(frame.at + 1) * parts + address_part);
    frame.at = instruction.target;
    return true;
  } else if (op == Op::end_finally_) {
    if (depth < 1) return false;
    const Value top = stack.back();
    if (top % parts == class_part) return unwind(side, frame, top - class_part);
    if (top != null_value && top % parts != address_part) return false;
    stack.pop_back();
    if (top != null_value) {
      frame.at = top / parts;
      return true;
    }
  } else {  // POP_FINALLY drops the NULL, address or exception, and keeps a return value above it
    const std::size_t kept = instruction.arg ? 1 : 0;
    if (depth < 1 + kept) return false;
    const Value result = stack.back(), reason = stack[depth - 1 - kept];
    stack.resize(depth - kept);
    if (reason == null_value || reason % parts == address_part) {
      stack.pop_back();
    } else {
      const std::size_t level = stack.size() - std::min(stack.size(), 2 * exception_values);
      if (reason % parts != class_part || !leave_handler(frame) || stack.size() < 2 * exception_values) return false;
      stack.resize(level);
    }
    if (kept) stack.push_back(result);
  }
  ++frame.at;
  return frame.blocks.size() <= search_limits::open_blocks;
}

// Moves `frame` to the handler of the topmost block whose handler is not running, or out of the frame if there is none.
// Returns false if the stack is too short, or if `exception` is no whole value.
bool SilentSteps::unwind_blocks(Frame& frame, Value exception) const {
  frame.phase = 0;
  if (exception <= null_value || !is_whole(exception) || !pop_to_handler(frame)) return false;
  if (frame.blocks.empty()) {
    frame.stack.assign(1, exception);
    frame.at = left_frame;
    return true;
  }
  frame.at = frame.blocks.back().target;
  frame.blocks.back().target = is_running;
  // The stack of the handler contains the previously handled exception, and above it the raised exception, as three
  // values each.
  for (const Value value : {frame.handled, exception})
    frame.stack.insert(frame.stack.end(), {value + traceback_part, value, value + class_part});
  frame.handled = exception;
  return true;
}

bool SilentSteps::unwind(int side, Frame& frame, Value exception) const {
  const Code& code = codes_[side];
  if (!code.has_table) return unwind_blocks(frame, exception);
  const int range = code.handler_at(frame.at);
  frame.phase = 0;
  if (range < 0) {
    frame.stack.assign(1, exception);
    frame.at = left_frame;
    return true;
  }
  const ProtectedRange& handler = code.decoded.ranges[std::size_t(range)];
  if (handler.depth < 0 || std::size_t(handler.depth) > frame.stack.size()) return false;
  frame.stack.resize(std::size_t(handler.depth));
  if (handler.lasti) frame.stack.push_back(raised_at);
  frame.stack.push_back(exception);
  frame.at = handler.target;
  return true;
}

}  // namespace depyf::lockstep
