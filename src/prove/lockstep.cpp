// CPython's bytecode and the bytecode that lower/ produces from the same source usually have the same effects in the
// same order. If the effects of both bytecodes are the same, the bytecodes differ only in details that no other code
// observes: jumps, NULLs below callables, and the way operands are moved.
//
// The pass of this file executes each code object over a stack of numbers. A number stands for one value, and equal
// values of the two code objects have equal numbers. The pass knows about a value only whether it equals another value,
// and whether it is NULL, None, True or False. Each load, store and operation is an event, apart from the silent
// operations in lockstep_silent.cpp, which move values, jump, or raise a caught exception again. The events of the two
// code objects must be equal pair by pair, and must have equal operands. Stores to locals are events, too, so the
// locals of both frames stay equal and need no model. The same instruction with the same operands has the same events,
// so events are read only where the instructions of the two code objects differ.
//
// Where control flow paths meet, the pass continues only if the pattern of equal numbers on both stacks is new or
// more general than before. If two events differ, the pass gives up, and the walk of walk.h decides, because the walk
// knows more rules of equality.
#include "prove/lockstep.h"

#include <algorithm>

#include "decode/equal_constants.h"
#include "decode/op.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "prove/lockstep_handlers.h"
#include "prove/lockstep_pair.h"
#include "prove/lockstep_points.h"
#include "prove/lockstep_same.h"
#include "prove/lockstep_silent.h"

namespace depyf {
namespace lockstep {
namespace {

using Kind = Constant::Kind;

// Runs two code objects in step. `ahead_` holds the states that remain to be followed.
class Lockstep {
 public:
  Lockstep(const DecodedCode& one, const DecodedCode& two, std::vector<CodePair>& codes)
      : codes_{Code(one), Code(two)},
        silent_(codes_, values_),
        handlers_(codes_, silent_, values_),
        points_(codes_[0].instructions.size(), values_),
        readers_{{codes_[0], codes_[1], values_}, {codes_[1], codes_[0], values_}},
        pair_(codes_, readers_, codes),
        same_(codes_, pair_, values_),
        pairs_(codes) {}

  bool run() {
    const std::size_t pairs_before = pairs_.size();
    const bool proved = walk();
    if (!proved) pairs_.resize(pairs_before);
    return proved;
  }
  std::int64_t steps() const { return steps_; }

 private:
  // Returns true if the proof succeeds. The locals of the two code objects are paired: arguments by position, and all
  // other locals when they are first used.
  bool walk() {
    if (codes_[0].decoded.code->freevars != codes_[1].decoded.code->freevars) return false;
    const std::int64_t arguments = codes_[0].decoded.code->argument_count();
    for (std::int64_t slot = 0; slot < arguments; ++slot) {
      if (std::size_t(slot) >= codes_[0].slot_partner.size() || std::size_t(slot) >= codes_[1].slot_partner.size())
        return false;
      codes_[0].slot_partner[std::size_t(slot)] = codes_[1].slot_partner[std::size_t(slot)] = int(slot);
    }
    Frames start;
    for (int side = 0; side < 2; ++side) start.sides[side].at = codes_[side].begin();
    for (std::int64_t slot = 0; slot < arguments; ++slot)
      if (codes_[0].is_cell[std::size_t(slot)] != codes_[1].is_cell[std::size_t(slot)]) return false;
    // The number of steps allowed for each instruction is small, because the state of a loop stops changing after a
    // few visits.
    constexpr std::int64_t of_instruction = 16;
    steps_most_ = of_instruction * std::int64_t(codes_[0].instructions.size() + codes_[1].instructions.size());
    ahead_.push_back(std::move(start));
    while (!ahead_.empty()) {
      Frames frames = std::move(ahead_.back());
      ahead_.pop_back();
      if (!follow(frames)) return false;
    }
    return true;
  }

  // Runs both code objects until their frames end, or until they reach a pair of places that was visited before.
  // Returns false if the pass gives up.
  bool follow(Frames& frames) {
    while (true) {
      if (++steps_ > steps_most_) return false;
      if (!is_meeting(frames) && same_.are_next(frames)) {
        if (!pass_same(frames)) return false;
        continue;
      }
      bool met = false;
      for (int side = 0; side < 2; ++side)
        if (!silent_.advance(side, frames, met)) return false;
      if (!take_constants_apart(frames)) return false;
      if (met) {
        bool known = false;
        if (!points_.arrive(frames, known)) return false;
        if (known) return true;
      }
      if (same_.are_next(frames)) {
        if (!pass_same(frames)) return false;
        continue;
      }
      for (int side = 0; side < 2; ++side)
        if (!readers_[side].read(frames.sides[side])) return false;
      // Two different events may both be stores to locals, which the two code objects execute in different order.
      if (!pair_.same_events(frames)) {
        if (!pair_.store_all(frames)) return false;
        continue;
      }
      bool ended = false;
      if (!go_on(frames, ended)) return false;
      if (ended) return true;
    }
  }

  // Returns true if the next instruction of one of the code objects is the target of a jump or the start of a
  // handler.
  bool is_meeting(const Frames& frames) const {
    for (int side = 0; side < 2; ++side) {
      const std::vector<std::uint8_t>& meets = codes_[side].meets;
      const auto at = std::size_t(frames.sides[side].at);
      if (at < meets.size() && meets[at]) return true;
    }
    return false;
  }

  // Moves both code objects past an instruction that is the same in both.
  bool pass_same(Frames& frames) {
    if (same_.may_raise() && !handlers_.raise(frames, 0, ahead_)) return false;
    same_.execute(frames);
    return true;
  }

  // Returns the constant that the code object with the number `side` loads next; null if its next event is not the load
  // of a constant.
  const Constant* next_constant(int side, const Frame& frame) const {
    if (frame.at == left_frame) return nullptr;
    const Code& code = codes_[side];
    const Op op = code.op_at(frame.at);
    if (code.is_class_detail(frame.at)) return nullptr;
    if (op == Op::load_const_ && frame.phase == 0) return code.constant_at(frame.at);
    // While a constant tuple is loaded item by item, `phase` is one more than the number of items that were loaded.
    if (frame.phase == 0 || (op != Op::load_const_ && op != Op::build_list_)) return nullptr;
    const std::vector<Constant>& items = code.constant_at(frame.at + (op == Op::build_list_))->items;
    const auto index = std::size_t(frame.phase - 1);
    return index < items.size() ? &items[index] : nullptr;
  }

  // Makes both code objects load a tuple of constants in the same way, either at once or item by item. Some compiler
  // versions fold a tuple of constants into one constant, and other versions build it at run time.
  bool take_constants_apart(Frames& frames) {
    const Constant* next[] = {next_constant(0, frames.sides[0]), next_constant(1, frames.sides[1])};
    if (next[0] && next[1] && next[0]->kind == Kind::tuple && equal_constants(*next[0], *next[1])) return true;
    for (int side = 0; side < 2; ++side) {
      Frame& frame = frames.sides[side];
      if (!next[side] || next[side]->kind != Kind::tuple || next[side]->items.empty() || frame.phase != 0) continue;
      frame.phase = 1;
      bool met = false;
      if (!silent_.advance(side, frames, met)) return false;
    }
    return true;
  }

  // Executes WITH_CLEANUP_START (3.8): removes `__exit__` from the stack, and pushes the exception class (or None)
  // and the result of the `__exit__` call.
  void after_with_cleanup(Frame& frame) const {
    std::vector<Value>& stack = frame.stack;
    // The top of the stack is the class of the exception, or NULL or a return address if there is no exception.
    const Value reason = stack.back();
    const bool is_exception = reason % parts == class_part;
    const auto exit = stack.end() - (is_exception ? 1 + 2 * std::ptrdiff_t(exception_values) : 2);
    const auto behind = stack.erase(exit);
    if (is_exception) {
      stack.insert(behind + exception_values, null_value);
      --frame.blocks.back().level;
    }
    stack.insert(stack.end(), {is_exception ? reason : none_value, results_[0]});
    ++frame.at;
  }

  // Moves both code objects past the event that the EventReaders have read last, which is the same in both. Sets
  // `ended` if no instruction follows on this path.
  bool go_on(Frames& frames, bool& ended) {
    const Event::Then then = shown(0).then;
    if (shown(0).raises || shown(1).raises) {
      // END_ASYNC_FOR and CLEANUP_THROW raise the very exception that they test; other events raise an unknown
      // exception.
      const bool keeps_exception = then == Event::Then::end_async_for || then == Event::Then::cleanup_throw;
      if (!handlers_.raise(frames, keeps_exception ? readers_[0].operands[0] : 0, ahead_)) return false;
    }
    switch (then) {
      case Event::Then::end:
      case Event::Then::raise: ended = true; return true;
      case Event::Then::branch: {
        // Both outcomes of a branch are followed: first the outcome that the tested boolean is false, while the state
        // for the outcome that it is true waits in `ahead_`.
        Frames jumped = frames;
        for (int side = 0; side < 2; ++side) {
          if (!decide(side, jumped.sides[side], true) || !decide(side, frames.sides[side], false)) return false;
        }
        ahead_.push_back(std::move(jumped));
        return true;
      }
      case Event::Then::iterate: {
        // Both outcomes of advancing an iterator are followed: the iterator is exhausted and the loop ends, or the loop
        // continues with the next item.
        Frames exhausted = frames;
        const Value item = values_.fresh();
        for (int side = 0; side < 2; ++side) {
          Frame& frame = exhausted.sides[side];
          const Instruction& instruction = codes_[side].instructions[std::size_t(frame.at)];
          // In 3.12 and 3.13 the code at the jump target pops two values, so an undefined item is pushed above the
          // exhausted iterator.
          if (instruction.aux == 1) frame.stack.push_back(undefined_item);
          else frame.stack.pop_back();
          frame.at = instruction.target;
          frames.sides[side].stack.push_back(item);
          ++frames.sides[side].at;
        }
        ahead_.push_back(std::move(exhausted));
        return true;
      }
      case Event::Then::send: {
        // The receiver of SEND has yielded a value, or it has returned a result.
        Frames returned = frames;
        const Value result = values_.fresh();
        for (int side = 0; side < 2; ++side) {
          Frame& frame = returned.sides[side];
          if (!dialect_of(codes_[side].version).send_keeps_receiver) frame.stack.pop_back();
          frame.stack.back() = result;
          frame.at = codes_[side].instructions[std::size_t(frame.at)].target;
          frames.sides[side].stack.back() = result;
          ++frames.sides[side].at;
        }
        ahead_.push_back(std::move(returned));
        return true;
      }
      case Event::Then::end_async_for:
        for (int side = 0; side < 2; ++side) {
          // The asynchronous iterator lies below the exception; up to 3.10 it lies below the six exception values of
          // a handler.
          Frame& frame = frames.sides[side];
          std::size_t iterator = frame.stack.size() - 2;
          if (!codes_[side].has_table) {
            if (!leave_handler(frame)) return false;
            iterator = frame.stack.size() - 1 - 2 * exception_values;
          }
          if (iterator >= frame.stack.size()) return false;
          frame.stack.resize(iterator);
          ++frame.at;
        }
        return frames.sides[0].handled == frames.sides[1].handled;
      case Event::Then::cleanup_throw: {
        const Value result = values_.fresh();
        for (Frame& frame : frames.sides) {
          frame.stack.resize(frame.stack.size() - 3);
          frame.stack.insert(frame.stack.end(), {none_value, result});
          ++frame.at;
        }
        return true;
      }
      case Event::Then::next: break;
    }
    // Each result of the event gets a fresh number, which both code objects share.
    std::uint8_t flags = shown(0).boolean ? is_boolean : 0;
    if (const Constant* constant = shown(0).constant;
        constant && shown(0).op == Op::load_const_ && constant->kind == Kind::tuple && !constant->items.empty())
      flags |= is_tuple_of_constants;
    if (shown(0).folded || shown(1).folded) flags |= is_tuple_of_constants;
    const bool test = shown(0).op == Op::to_bool_;
    const int results = test ? 1 : shown(0).results;
    results_.clear();
    for (int index = 0; index < results; ++index) results_.push_back(values_.fresh(index + 1 == results ? flags : 0));
    for (int side = 0; side < 2; ++side) next(side, frames.sides[side], test);
    return true;
  }

  // Follows one outcome of a branch in one code object. `event.holds` is the outcome for which this code object
  // jumps.
  bool decide(int side, Frame& frame, bool outcome) {
    const Event& event = shown(side);
    frame.phase = 0;
    if (codes_[side].op_at(frame.at) == Op::with_cleanup_finish_) {
      frame.stack.resize(frame.stack.size() - 2);
      if (event.holds == outcome) {  // the exit function has swallowed the exception
        const auto level = frame.blocks.empty() ? 0 : std::size_t(std::max(frame.blocks.back().level, 0));
        if (!leave_handler(frame)) return false;
        frame.stack.resize(level);
        frame.stack.push_back(null_value);
      }
      ++frame.at;
    } else if (event.holds == outcome) {
      if (!event.keeps) frame.stack.pop_back();
      frame.at = codes_[side].instructions[std::size_t(frame.at)].target;
    } else {
      frame.stack.pop_back();
      ++frame.at;
    }
    return true;
  }

  // Pushes the results of an event on the stack of one code object, and moves this code object past the instruction.
  void next(int side, Frame& frame, bool test) {
    const Code& code = codes_[side];
    const Event& event = shown(side);
    const Instruction& instruction = code.instructions[std::size_t(frame.at)];
    const Op op = instruction.op;
    if (test) {
      // JUMP_IF_x_OR_POP keeps its value on the stack, so the result of its truth test is stored in `phase`. For any
      // instruction except JUMP_IF_x_OR_POP, the result of the truth test replaces the value on the stack.
      const bool keeps = op == Op::jump_if_true_or_pop_ || op == Op::jump_if_false_or_pop_;
      if (!keeps) frame.stack.back() = results_[0];
      frame.phase = keeps ? results_[0] : 1;
      return;
    }
    if (op == Op::pop_jump_if_none_ || op == Op::pop_jump_if_not_none_) {
      frame.stack.back() = results_[0];
      frame.phase = 1;
      return;
    }
    if (op == Op::with_cleanup_start_) return after_with_cleanup(frame);
    // The level of the block lies above `__exit__`, which the handler still needs.
    if (op == Op::setup_with_) frame.blocks.push_back({instruction.target, int(frame.stack.size())});
    if (op != Op::make_function_) frame.stack.erase(frame.stack.end() - event.pops, frame.stack.end());
    for (const Value result : results_) frame.stack.push_back(result);
    // Up to 3.10, MATCH_KEYS and MATCH_CLASS are executed a second time, for the bool that states whether the pattern
    // has matched.
    const bool matches = op == Op::match_keys_ || op == Op::match_class_;
    if (matches && frame.phase == 0 && dialect_of(code.version).pushed_pattern_tests) {
      frame.phase = 1;
      return;
    }
    const bool inverts = matches ? frame.phase != 0 : (op == Op::is_op_ || op == Op::contains_op_) && instruction.arg;
    if (inverts) frame.stack.back() = negation(frame.stack.back());
    if (op == Op::load_method_ || (op == Op::load_super_attr_ && (instruction.aux & 1)))
      frame.stack.push_back(results_[0] + self_part);
    // A COMPARE_OP that also converts its result to a bool (from 3.13 on) is executed a second time for the conversion.
    if (op == Op::compare_op_ && instruction.aux) {
      frame.phase = 1;
      return;
    }
    if (frame.phase && (op == Op::load_const_ || op == Op::build_list_)) {
      if (event.op == Op::load_const_) {
        ++frame.phase;
        return;
      }
      if (op == Op::build_list_) frame.at += 2;
    }
    if (code.is_class_detail(frame.at)) ++frame.at;
    frame.phase = 0;
    ++frame.at;
  }

  const Event& shown(int side) const { return readers_[side].event; }

  Code codes_[2];
  Values values_;
  SilentSteps silent_;
  Handlers handlers_;
  VisitedPoints points_;
  EventReader readers_[2];
  EventPair pair_;
  SameInstructions same_;
  std::vector<CodePair>& pairs_;
  std::vector<Frames> ahead_;
  std::vector<Value> results_;
  std::int64_t steps_ = 0, steps_most_ = 0;
};

}  // namespace
}  // namespace lockstep

bool run_in_lockstep(const DecodedCode& one, const DecodedCode& two, std::vector<CodePair>& codes,
                     std::int64_t& steps) {
  lockstep::Lockstep walk(one, two, codes);
  const bool proved = walk.run();
  steps = walk.steps();
  return proved;
}

}  // namespace depyf
