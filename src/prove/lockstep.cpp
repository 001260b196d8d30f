// Compiled code and the plainest lowering of its source mostly make the same effects one after the other, and differ in what
// nobody sees: jumps, NULLs below callables, how operands are moved. So each side is run over a stack of numbers. A number
// stands for one value, the same on both sides; what is known of values is only which of them are the same one, NULL, None,
// True or False. Every load, store and operation is an event, and events must be equal pair by pair, with equal operands.
// All stores to locals are events too, so the locals of both sides stay equal and need no model.
//
// Where ways meet, the pattern of numbers on both stacks must be the one of the first visit. Anything else gives up, and the
// prover, which knows far more of what is equal, has the last word.
#include "prove/lockstep.h"

#include <algorithm>
#include <bit>
#include <ranges>
#include <span>
#include <string>

#include "decode/decode.h"
#include "dialect/dialect.h"

namespace depyf {
namespace {

// A value: a base, which is a multiple of `parts`, and what of it is meant.
using Value = std::int32_t;
constexpr Value parts = 8;
constexpr Value self_part = 1;  // behind a method that was loaded: its self, or NULL
constexpr Value negated_part = 2;  // of a boolean
// To 3.10 an exception lies on the stack as its traceback, itself and its class.
constexpr Value class_part = 3, traceback_part = 4;
constexpr Value address_part =
    5;  // 3.8: the place where the subroutine of a finally returns to; the base is an instruction
constexpr Value null_value = 0, raised_at = 1 * parts, callers_exception = 2 * parts, undefined_item = 3 * parts,
                names_of_call = 4 * parts, none_value = 5 * parts, true_value = 6 * parts,
                false_value = true_value + negated_part, qualified_name = 7 * parts, generator_start = 8 * parts,
                first_fresh = 9 * parts;

// What is known of a base.
constexpr std::uint8_t is_boolean = 1;
constexpr std::uint8_t is_tuple_of_constants = 2;
constexpr Value flag_values = 4;

constexpr std::size_t max_items = 1 << 16;  // of a list of constants
constexpr int is_shadow = -2;  // the partner of a local that only comprehensions use
constexpr int left_frame = -1;  // `at` once an exception has left the frame; it alone lies on the stack

using Kind = Constant::Kind;

bool is_number(const Constant& value) {
  return value.kind == Kind::integer || value.kind == Kind::real || value.kind == Kind::complex ||
         value.kind == Kind::true_ || value.kind == Kind::false_;
}

// True for constants of one type and value. Code objects are left to the caller.
bool same_constant(const Constant& one, const Constant& two, bool is_order_free = false) {
  if (one.kind != two.kind) return false;
  const auto same_bits = [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  };
  switch (one.kind) {
    case Kind::none:
    case Kind::true_:
    case Kind::false_:
    case Kind::ellipsis: return true;
    case Kind::integer:
    case Kind::string:
    case Kind::bytes: return one.text == two.text;
    case Kind::real: return same_bits(one.real, two.real);
    case Kind::complex: return same_bits(one.real, two.real) && same_bits(one.imag, two.imag);
    case Kind::tuple:
    case Kind::slice:
      return std::ranges::equal(one.items, two.items,
                                [](const Constant& a, const Constant& b) { return same_constant(a, b); });
    case Kind::frozenset: {
      if (one.items.size() != two.items.size()) return false;
      if (std::ranges::equal(one.items, two.items,
                             [](const Constant& a, const Constant& b) { return same_constant(a, b); }))
        return true;
      // The order of numbers is the same in every process, so that a program may tell it.
      constexpr std::size_t most_compared = 32;
      if (one.items.size() > most_compared || (!is_order_free && std::ranges::all_of(one.items, is_number)))
        return false;
      return std::ranges::is_permutation(one.items, two.items,
                                         [](const Constant& a, const Constant& b) { return same_constant(a, b); });
    }
    case Kind::code: return false;
    case Kind::opaque: return one.identity != 0 && one.identity == two.identity;
  }
  return false;
}

// True for a value that is an object, which can be an operand.
bool is_whole(Value value) {
  const Value part = value % parts;
  return part == 0 || part == negated_part;
}

// One side's code, with what the walk asks of each instruction.
struct Code {
  explicit Code(const DecodedCode& decoded_code) : decoded(decoded_code), instructions(decoded.instructions) {
    version = std::min(decoded.code->version, one_iterator_version);
    has_table = dialect_of(version).exception_table;
    meets.assign(instructions.size(), 0);
    for (const Instruction& instruction : instructions)
      if (instruction.target >= 0) meets[std::size_t(instruction.target)] = 1;
    if (!decoded.ranges.empty()) handler_of.assign(instructions.size(), -1);
    for (std::size_t range = 0; range < decoded.ranges.size(); ++range) {
      meets[std::size_t(decoded.ranges[range].target)] = 1;
      for (int at = decoded.ranges[range].begin; at < decoded.ranges[range].end; ++at)
        if (handler_of[std::size_t(at)] < 0) handler_of[std::size_t(at)] = static_cast<int>(range);
    }
    find_class_details();
    slot_partner.assign(decoded.localsplus.size(), -1);
    is_cell.assign(decoded.localsplus.size(), 0);
    if (!has_table) std::ranges::copy(decoded.is_cell, is_cell.begin());
  }

  // From 3.13 on: where the compiler has a class body store the line of its source, first, and names of attributes, last.
  void find_class_details() {
    if (!dialect_of(version).class_details || (decoded.code->flags & CodeObject::optimized)) return;
    bool has_line = false;
    for (std::size_t at = 1; at < instructions.size(); ++at) {
      if (instructions[at].op != Op::store_name_) continue;
      const std::string& name = decoded.code->names[std::size_t(instructions[at].arg)];
      const Op before = instructions[at - 1].op;
      if (name == "__firstlineno__" && !has_line) {
        has_line = true;
        line_at = before == Op::load_const_ || before == Op::load_int_ ? int(at) - 1 : -1;
      }
      if (name == "__static_attributes__") attributes_at = before == Op::load_const_ ? int(at) - 1 : -1;
    }
  }
  bool is_class_detail(int at) const { return at >= 0 && (at == line_at || at == attributes_at); }

  // Runs the instructions at the start that make the cells, whose order nobody sees.
  int begin() {
    std::size_t at = 0;
    for (; at < instructions.size(); ++at) {
      const Instruction& instruction = instructions[at];
      if (instruction.op == Op::make_cell_ && !is_cell[std::size_t(instruction.arg)])
        is_cell[std::size_t(instruction.arg)] = 1;
      else if (instruction.op == Op::copy_free_vars_)
        std::fill(is_cell.begin() + decoded.first_free, is_cell.end(), std::uint8_t{1});
      else if (instruction.op != Op::nop_) break;
    }
    return static_cast<int>(at);
  }

  const Constant* constant_at(int at) const {
    const Instruction& instruction = instructions[std::size_t(at)];
    return instruction.op == Op::load_const_ ? &decoded.constant(instruction.arg) : nullptr;
  }
  Op op_at(int at) const { return std::size_t(at) < instructions.size() ? instructions[std::size_t(at)].op : Op::nop_; }

  const DecodedCode& decoded;
  const std::vector<Instruction>& instructions;
  Version version;
  bool has_table = true;
  std::vector<std::uint8_t> meets;  // by instruction: jumps or handlers lead there
  std::vector<int> handler_of;  // by instruction: its range, or -1; empty where there are no ranges
  int line_at = -1, attributes_at = -1;  // the load before such a store, or -1
  std::vector<int> slot_partner;  // by local: that of the other side, or -1
  std::vector<std::uint8_t> is_cell;  // by local: it holds a cell from the start on
};

// To 3.10: what SETUP_FINALLY and its like put on the block stack, or a handler that runs.
struct Block {
  int target = 0;  // of the handler; is_running: it runs
  int level = 0;  // depth of the value stack
  friend bool operator==(const Block&, const Block&) = default;
};
constexpr int is_running = -1;
constexpr std::size_t exception_values = 3;  // an exception on the stack, to 3.10

struct Frame {
  int at = 0;
  int phase =
      0;  // of an instruction that makes several events; of one that gathers constants: 1 + how many it has loaded
  Value handled = callers_exception;
  std::vector<Value> stack;
  std::vector<Block> blocks;  // to 3.10
};

// A local of the first side that a comprehension has taken over, while its own value waits on the stack (3.12 and later). The
// second side has another local for it.
struct Shadow {
  int slot = 0;
  int partner = -1;  // the second side's local that has the same value; -1: none is known
  Value saved = 0;  // stands for the value that waits; 0: it has come back
  friend bool operator==(const Shadow&, const Shadow&) = default;
};

struct Frames {
  Frame sides[2];
  std::vector<Shadow> shadows;
};

// What an instruction shows. Operands are kept apart, by side.
struct Event {
  enum class Then : std::uint8_t { next, branch, iterate, send, end, raise, end_async_for, cleanup_throw };
  Op op = Op::nop_;
  Then then = Then::next;
  bool raises = true;
  bool boolean = false;  // the result is True or False
  bool holds = false;  // of a branch: the outcome for which this side jumps
  bool keeps = false;  // of a branch: the value stays where it jumps
  bool folded = false;  // a tuple that is built here and a constant on the other side, or may be
  std::int32_t detail = 0;
  int pops = 0, results = 0;
  int local = -1;  // the slot that it reads or changes
  const std::string* name = nullptr;
  const Constant* constant = nullptr;  // that it loads, or the names of a call
  std::string number;  // of an integer without a constant
};

class Lockstep {
 public:
  Lockstep(const DecodedCode& one, const DecodedCode& two, std::vector<CodePair>& codes)
      : codes_{Code(one), Code(two)}, pairs_(codes) {
    empty_tuple_.kind = Kind::tuple;
  }

  bool run() {
    const std::size_t pairs_before = pairs_.size();
    const bool proved = walk();
    if (!proved) pairs_.resize(pairs_before);
    return proved;
  }
  std::int64_t steps() const { return steps_; }

 private:
  struct Point {
    int at = 0;  // of the second side
    int next = -1;
    std::vector<Value> pattern;
  };
  struct Merged {
    Value one = 0, two = 0, value = 0;
  };
  struct Raised {
    int ranges[2] = {-1, -1};
    std::vector<Value> below[2];
    std::vector<Block> blocks[2];
    std::vector<Shadow> shadows;
    Value handled[2] = {};
  };

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
    first_point_.assign(codes_[0].instructions.size() + 1, -1);
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

  // Runs on until the frame is left or a point is met that is known.
  bool follow(Frames& frames) {
    while (true) {
      if (++steps_ > steps_most_) return false;
      bool met = false;
      for (int side = 0; side < 2; ++side)
        if (!advance(side, frames, met)) return false;
      if (!take_constants_apart(frames)) return false;
      if (met) {
        bool known = false;
        if (!arrive(frames, known)) return false;
        if (known) return true;
      }
      for (int side = 0; side < 2; ++side)
        if (!show(side, frames.sides[side])) return false;
      if (!same_events(frames)) {
        if (!store_all(frames)) return false;
        continue;
      }
      bool ended = false;
      if (!go_on(frames, ended)) return false;
      if (ended) return true;
    }
  }

  Value fresh(std::uint8_t flags = 0) {
    flags_.push_back(flags);
    return first_fresh + parts * Value(flags_.size() - 1);
  }
  std::uint8_t flags_of(Value value) const {
    if (value / parts == true_value / parts) return is_boolean;
    return value < first_fresh ? std::uint8_t{0} : flags_[std::size_t((value - first_fresh) / parts)];
  }
  bool is_truth(Value value) const { return value % parts != self_part && (flags_of(value) & is_boolean); }
  static Value negation(Value boolean) { return boolean ^ negated_part; }
  static bool is_known_truth(Value value) { return value == true_value || value == false_value || value == none_value; }

  static bool push_singleton(std::vector<Value>& stack, const Constant& constant) {
    if (constant.kind == Kind::none) stack.push_back(none_value);
    else if (constant.kind == Kind::true_) stack.push_back(true_value);
    else if (constant.kind == Kind::false_) stack.push_back(false_value);
    else return false;
    return true;
  }

  // Of constants that are loaded one by one: pushes one that is no event.
  static bool gather_singleton(Frame& frame, const Constant& gathered) {
    const auto index = std::size_t(frame.phase - 1);
    if (index >= gathered.items.size() || !push_singleton(frame.stack, gathered.items[index])) return false;
    ++frame.phase;
    return true;
  }

  // A local that is given to a comprehension, or that a comprehension has no use for any more.
  bool clear(int side, Frames& frames) {
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

  // The local's own value comes back.
  bool restore(Frames& frames) const {
    Frame& frame = frames.sides[0];
    Shadow* shadow = shadow_of(frames, codes_[0].instructions[std::size_t(frame.at)].arg);
    if (!shadow || shadow->saved != frame.stack.back()) return false;
    shadow->saved = 0;
    while (!frames.shadows.empty() && frames.shadows.back().saved == 0) frames.shadows.pop_back();
    frame.stack.pop_back();
    ++frame.at;
    return true;
  }

  // The last comprehension that has the local, or null.
  static Shadow* shadow_of(Frames& frames, int slot) {
    for (Shadow& shadow : frames.shadows | std::views::reverse)
      if (shadow.slot == slot && shadow.saved != 0) return &shadow;
    return nullptr;
  }

  // The constant that the side loads next, or null.
  const Constant* next_constant(int side, const Frame& frame) const {
    if (frame.at == left_frame) return nullptr;
    const Code& code = codes_[side];
    const Op op = code.op_at(frame.at);
    if (code.is_class_detail(frame.at)) return nullptr;
    if (op == Op::load_const_ && frame.phase == 0) return code.constant_at(frame.at);
    if (frame.phase == 0 || (op != Op::load_const_ && op != Op::build_list_)) return nullptr;
    const std::vector<Constant>& items = code.constant_at(frame.at + (op == Op::build_list_))->items;
    const auto index = std::size_t(frame.phase - 1);
    return index < items.size() ? &items[index] : nullptr;
  }

  // A tuple of constants is loaded at once by both sides, or item by item: what one compiler folds another builds.
  bool take_constants_apart(Frames& frames) {
    const Constant* next[] = {next_constant(0, frames.sides[0]), next_constant(1, frames.sides[1])};
    if (next[0] && next[1] && next[0]->kind == Kind::tuple && same_constant(*next[0], *next[1])) return true;
    for (int side = 0; side < 2; ++side) {
      Frame& frame = frames.sides[side];
      if (!next[side] || next[side]->kind != Kind::tuple || next[side]->items.empty() || frame.phase != 0) continue;
      frame.phase = 1;
      bool met = false;
      if (!advance(side, frames, met)) return false;
    }
    return true;
  }

  // Runs what nobody sees, up to the next event. `met`: it came along where ways meet.
  bool advance(int side, Frames& frames, bool& met) {
    const Code& code = codes_[side];
    Frame& frame = frames.sides[side];
    std::vector<Value>& stack = frame.stack;
    const std::size_t most_silent = 2 * code.instructions.size() + max_items;
    for (std::size_t count = 0; count <= most_silent; ++count) {
      if (frame.at == left_frame) return true;
      if (std::size_t(frame.at) >= code.instructions.size()) return false;
      if (frame.phase == 0 && code.meets[std::size_t(frame.at)]) met = true;
      const Instruction& instruction = code.instructions[std::size_t(frame.at)];
      const std::size_t depth = stack.size();
      const std::size_t count_of = std::size_t(std::max(instruction.arg, 0));
      switch (instruction.op) {
        case Op::nop_:
        case Op::resume_: ++frame.at; continue;
        case Op::jump_: frame.at = instruction.target; continue;
        case Op::pop_top_:
        case Op::end_for_:
        case Op::pop_iter_:
          if (depth < 1) return false;
          stack.pop_back();
          ++frame.at;
          continue;
        case Op::copy_:
          if (instruction.arg < 1 || depth < count_of) return false;
          stack.push_back(stack[depth - count_of]);
          ++frame.at;
          continue;
        case Op::swap_:
          if (instruction.arg < 1 || depth < count_of) return false;
          std::swap(stack[depth - 1], stack[depth - count_of]);
          ++frame.at;
          continue;
        case Op::rotate_: {
          if (instruction.arg < 1 || depth < count_of) return false;
          std::rotate(stack.end() - instruction.arg, stack.end() - 1, stack.end());
          ++frame.at;
          continue;
        }
        case Op::push_null_:
          stack.push_back(null_value);
          ++frame.at;
          continue;
        case Op::load_const_: {
          const Constant& constant = code.decoded.constant(instruction.arg);
          if (frame.phase) {
            if (!gather_singleton(frame, constant)) return true;
            continue;
          }
          const Op next = code.op_at(frame.at + 1);
          if (next == Op::call_kw_ || next == Op::call_function_kw_) {
            stack.push_back(names_of_call);
          } else if (next == Op::make_function_ && code.instructions[std::size_t(frame.at) + 1].aux) {
            stack.push_back(qualified_name);
          } else if (!push_singleton(stack, constant)) {
            return true;
          }
          ++frame.at;
          continue;
        }
        case Op::build_list_:
          if (!starts_list_of_constants(code, frame.at)) return true;
          if (frame.phase == 0) frame.phase = 1;
          if (!gather_singleton(frame, *code.constant_at(frame.at + 1))) return true;
          continue;
        case Op::load_fast_and_clear_:
          if (!clear(side, frames)) return false;
          continue;
        case Op::store_fast_:
          if (depth < 1) return false;
          if (stack.back() >= 0) return true;
          if (side != 0 || !restore(frames)) return false;
          continue;
        case Op::end_send_:
          if (depth < 2) return false;
          stack[depth - 2] = stack[depth - 1];
          stack.pop_back();
          ++frame.at;
          continue;
        case Op::return_generator_:
          // To 3.10 a generator starts without an instruction that says so.
          if (codes_[0].has_table) return true;
          stack.push_back(generator_start);
          ++frame.at;
          continue;
        case Op::setup_finally_:
        case Op::setup_async_with_:
        case Op::pop_block_:
        case Op::begin_finally_:
        case Op::call_finally_:
        case Op::end_finally_:
        case Op::pop_finally_:
          if (!block_stack(side, frame)) return false;
          continue;
        case Op::with_cleanup_finish_:
          if (depth < 2) return false;
          if (stack[depth - 2] != none_value) return true;
          stack.resize(depth - 2);
          ++frame.at;
          continue;
        case Op::push_exc_info_: {
          if (depth < 1 || !code.has_table) return false;
          const Value exception = stack.back();
          stack.back() = frame.handled;
          stack.push_back(exception);
          frame.handled = exception;
          ++frame.at;
          continue;
        }
        case Op::pop_except_:
          if (depth < 1) return false;
          if (!code.has_table) {
            if (depth < exception_values || frame.blocks.empty() || frame.blocks.back().target != is_running ||
                std::size_t(frame.blocks.back().level) + exception_values > depth || !is_whole(stack[depth - 2]))
              return false;
            frame.blocks.pop_back();
            frame.handled = stack[depth - 2];
            stack.resize(depth - exception_values);
            ++frame.at;
            continue;
          }
          frame.handled = stack.back();
          stack.pop_back();
          ++frame.at;
          continue;
        case Op::reraise_:
          if (depth < (code.has_table ? 1 : exception_values)) return false;
          if (!unwind(side, frame, stack[depth - (code.has_table ? 1 : 2)])) return false;
          continue;
        case Op::build_tuple_:
          // `a, b = b, a`: a tuple that is taken apart at once.
          if (code.op_at(frame.at + 1) != Op::unpack_sequence_ ||
              code.instructions[std::size_t(frame.at) + 1].arg != instruction.arg)
            return true;
          if (instruction.arg < 0 || depth < count_of) return false;
          std::reverse(stack.end() - instruction.arg, stack.end());
          frame.at += 2;
          continue;
        case Op::to_bool_:
          if (depth < 1) return false;
          if (!is_truth(stack.back())) return true;
          frame.phase = 0;
          ++frame.at;
          continue;
        case Op::unary_op_:
          if (static_cast<UnaryOp>(instruction.arg) != UnaryOp::not_) return true;
          if (depth < 1) return false;
          if (!is_truth(stack.back())) return true;
          stack.back() = negation(stack.back());
          frame.phase = 0;
          ++frame.at;
          continue;
        case Op::compare_op_:
          if (frame.phase == 0) return true;
          if (depth < 1) return false;
          if (!is_truth(stack.back())) return true;
          frame.phase = 0;
          ++frame.at;
          continue;
        case Op::pop_jump_if_true_:
        case Op::pop_jump_if_false_:
          if (depth < 1) return false;
          if (!is_known_truth(stack.back())) return true;
          frame.at = (stack.back() == true_value) == (instruction.op == Op::pop_jump_if_true_) ? instruction.target
                                                                                               : frame.at + 1;
          stack.pop_back();
          continue;
        default: return true;
      }
    }
    return false;
  }

  // The instructions of the block stack, and those by which 3.8 runs the body of a finally as a subroutine. While such a body
  // runs, NULL, the address to return to or an exception lies on top of the stack.
  bool block_stack(int side, Frame& frame) const {
    const Code& code = codes_[side];
    if (code.has_table) return false;
    const Instruction& instruction = code.instructions[std::size_t(frame.at)];
    std::vector<Value>& stack = frame.stack;
    const std::size_t depth = stack.size();
    switch (instruction.op) {
      case Op::setup_finally_: frame.blocks.push_back({instruction.target, int(depth)}); break;
      case Op::setup_async_with_:
        if (depth < 1) return false;
        frame.blocks.push_back({instruction.target, int(depth) - 1});
        break;
      case Op::pop_block_:
        if (frame.blocks.empty() || frame.blocks.back().target == is_running) return false;
        frame.blocks.pop_back();
        break;
      case Op::begin_finally_: stack.push_back(null_value); break;
      case Op::call_finally_:
        stack.push_back(Value(frame.at + 1) * parts + address_part);
        frame.at = instruction.target;
        return true;
      case Op::end_finally_: {
        if (depth < 1) return false;
        const Value top = stack.back();
        if (top % parts == class_part) return unwind(side, frame, top - class_part);
        if (top != null_value && top % parts != address_part) return false;
        stack.pop_back();
        if (top == null_value) break;
        frame.at = top / parts;
        return true;
      }
      case Op::pop_finally_: {
        const std::size_t kept = instruction.arg ? 1 : 0;
        if (depth < 1 + kept) return false;
        const Value result = stack.back(), reason = stack[depth - 1 - kept];
        stack.resize(depth - kept);
        if (reason == null_value || reason % parts == address_part) {
          stack.pop_back();
        } else {
          const std::size_t level = stack.size() - std::min(stack.size(), 2 * exception_values);
          if (reason % parts != class_part || !leave_handler(frame) || stack.size() < 2 * exception_values)
            return false;
          stack.resize(level);
        }
        if (kept) stack.push_back(result);
        break;
      }
      default: return false;
    }
    ++frame.at;
    constexpr std::size_t most_blocks = 100;  // CPython has 20
    return frame.blocks.size() <= most_blocks;
  }

  // To 3.10: what was handled before the handler that runs is so again. The stack stays.
  static bool leave_handler(Frame& frame) {
    if (frame.blocks.empty() || frame.blocks.back().target != is_running) return false;
    const int level = frame.blocks.back().level;
    if (level < 0 || std::size_t(level) + exception_values > frame.stack.size()) return false;
    frame.handled = frame.stack[std::size_t(level) + 1];
    frame.blocks.pop_back();
    return is_whole(frame.handled);
  }

  // To 3.10: pops blocks up to the one whose handler an exception leads to; false: the stack does not fit.
  static bool pop_to_handler(Frame& frame) {
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

  bool unwind_blocks(Frame& frame, Value exception) const {
    frame.phase = 0;
    if (exception <= null_value || !is_whole(exception) || !pop_to_handler(frame)) return false;
    if (frame.blocks.empty()) {
      frame.stack.assign(1, exception);
      frame.at = left_frame;
      return true;
    }
    frame.at = frame.blocks.back().target;
    frame.blocks.back().target = is_running;
    for (const Value value : {frame.handled, exception})
      frame.stack.insert(frame.stack.end(), {value + traceback_part, value, value + class_part});
    frame.handled = exception;
    return true;
  }

  // Goes where an exception leads that is raised at `frame.at`.
  bool unwind(int side, Frame& frame, Value exception) const {
    const Code& code = codes_[side];
    if (!code.has_table) return unwind_blocks(frame, exception);
    const int range = handler_at(side, frame.at);
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

  int handler_at(int side, int at) const {
    const Code& code = codes_[side];
    return code.handler_of.empty() || at < 0 ? -1 : code.handler_of[std::size_t(at)];
  }

  // Looks whether the point that both sides are at is known: with the pattern of values of this visit, or a more general one.
  // Where it is known with another pattern, `frames` keep what both visits share.
  bool arrive(Frames& frames, bool& known) {
    set_pattern(frames);
    int& first = first_point_[std::size_t(frames.sides[0].at + 1)];
    int index = first;
    while (index >= 0 && points_[std::size_t(index)].at != frames.sides[1].at) index = points_[std::size_t(index)].next;
    if (index < 0) {
      points_.push_back({frames.sides[1].at, first, pattern_});
      first = int(points_.size()) - 1;
      return true;
    }
    std::vector<Value>& visited = points_[std::size_t(index)].pattern;
    known = visited == pattern_;
    if (known) return true;
    if (!generalise(frames, visited)) return false;
    set_pattern(frames);
    known = visited == pattern_;
    if (!known) visited = pattern_;
    return true;
  }

  void set_pattern(const Frames& frames) {
    pattern_.clear();
    numbered_.clear();
    for (const Frame& frame : frames.sides) {
      pattern_.push_back(frame.phase);
      pattern_.push_back(Value(frame.stack.size()));
      pattern_.push_back(Value(frame.blocks.size()));
      for (const Block& block : frame.blocks) pattern_.insert(pattern_.end(), {block.target, block.level});
      pattern_.push_back(number(frame.handled, frames.shadows));
      for (Value value : frame.stack) pattern_.push_back(number(value, frames.shadows));
    }
    for (const Shadow& shadow : frames.shadows)
      pattern_.insert(pattern_.end(), {shadow.slot, shadow.saved != 0, shadow.partner});
  }

  // Makes `frames`, whose pattern is `pattern_`, stand for what was visited with the pattern `visited` too.
  bool generalise(Frames& frames, const std::vector<Value>& visited) {
    if (visited.size() != pattern_.size()) return false;
    merged_.clear();
    std::size_t at = 0;
    for (Frame& frame : frames.sides) {
      const std::size_t shapes = 3 + 2 * frame.blocks.size();
      for (std::size_t same = 0; same < shapes; ++same, ++at)
        if (visited[at] != pattern_[at]) return false;
      if (!merge(frame.handled, visited[at], pattern_[at])) return false;
      ++at;
      for (Value& value : frame.stack) {
        if (!merge(value, visited[at], pattern_[at])) return false;
        ++at;
      }
    }
    for (Shadow& shadow : frames.shadows) {
      for (int same = 0; same < 2; ++same, ++at)
        if (visited[at] != pattern_[at]) return false;
      if (visited[at] != pattern_[at]) shadow.partner = -1;
      ++at;
    }
    return true;
  }

  // `one` and `two`: what the value is in the patterns of two visits. The same two have the same value in all places.
  bool merge(Value& value, Value one, Value two) {
    if (one == two && one < first_fresh) return true;
    if (!may_merge(one) || !may_merge(two)) return false;
    const Value part = !is_whole(one) ? one % parts : !is_whole(two) ? two % parts : 0;
    if (part && one % parts != two % parts) return false;
    one -= part;
    two -= part;
    for (const Merged& merged : merged_)
      if (merged.one == one && merged.two == two) {
        value = merged.value + part;
        return true;
      }
    const std::uint8_t flags[] = {flags_in_pattern(one), flags_in_pattern(two)};
    value = fresh(std::uint8_t((flags[0] & flags[1] & is_boolean) | ((flags[0] | flags[1]) & is_tuple_of_constants)));
    merged_.push_back({one, two, value});
    value += part;
    return true;
  }

  // True for what may be an operand, and for a part of an exception.
  static bool may_merge(Value value) {
    if (value % parts == address_part) return false;
    return value >= first_fresh || value / parts == callers_exception / parts || value == none_value ||
           value / parts == true_value / parts;
  }

  // A value with its base replaced by its place in the order of first occurrence, and by what is known of it.
  Value number(Value value, const std::vector<Shadow>& shadows) {
    if (value < 0)
      for (std::size_t index = 0; index < shadows.size(); ++index)
        if (shadows[index].saved == value) return -parts * Value(index + 1);
    if (value < first_fresh || value % parts == address_part) return value;
    const Value base = value / parts;
    std::size_t index = 0;
    while (index < numbered_.size() && numbered_[index] != base) ++index;
    if (index == numbered_.size()) numbered_.push_back(base);
    return first_fresh + (Value(index) * flag_values + flags_of(value)) * parts + value % parts;
  }

  std::uint8_t flags_in_pattern(Value value) const {
    return value < first_fresh ? flags_of(value) : std::uint8_t((value - first_fresh) / parts % flag_values);
  }

  // Takes `pops` values from the top as operands. No operand may be NULL.
  bool take(int side, const Frame& frame, int pops) {
    if (pops < 0 || std::size_t(pops) > frame.stack.size()) return false;
    for (auto value = frame.stack.end() - pops; value != frame.stack.end(); ++value)
      if (!add_operand(side, *value)) return false;
    return true;
  }
  bool add_operand(int side, Value value) {
    operands_[side].push_back(value);
    return value > null_value && is_whole(value);
  }

  bool simple(int side, const Frame& frame, const Instruction& instruction, std::int32_t detail) {
    const StackEffect effect = stack_effect(instruction, codes_[side].version, false);
    Event& event = events_[side];
    event.detail = detail;
    event.pops = effect.pops, event.results = effect.pushes;
    return take(side, frame, effect.pops);
  }
  bool named(int side, const Frame& frame, const Instruction& instruction) {
    events_[side].name = &codes_[side].decoded.code->names[std::size_t(instruction.arg)];
    return simple(side, frame, instruction, 0);
  }
  bool peeks(int side, const Frame& frame, int count, int results) {
    events_[side].results = results;
    return take(side, frame, count);
  }
  bool local(int side, const Frame& frame, const Instruction& instruction) {
    if (instruction.arg < 0 || std::size_t(instruction.arg) >= codes_[side].decoded.localsplus.size()) return false;
    events_[side].local = instruction.arg;
    return simple(side, frame, instruction, 0);
  }

  // A test of a value that is no boolean.
  bool test(int side, const Frame& frame) {
    events_[side].op = Op::to_bool_;
    events_[side].boolean = true;
    return take(side, frame, 1);
  }

  bool callable(int side, const Frame& frame, int pops) {
    const std::size_t depth = frame.stack.size();
    const Value low = frame.stack[depth - std::size_t(pops)], high = frame.stack[depth - std::size_t(pops) + 1];
    if (low == null_value || high == null_value) return add_operand(side, low == null_value ? high : low);
    if (high % parts == self_part) return high - self_part == low && add_operand(side, low);
    return add_operand(side, low) && add_operand(side, high);
  }

  bool call(int side, const Frame& frame, const Instruction& instruction) {
    const Code& code = codes_[side];
    const Op op = instruction.op;
    const bool slots = op == Op::call_ || op == Op::call_kw_;
    const bool names_on_top = op == Op::call_kw_ || op == Op::call_function_kw_;
    const int pops = instruction.arg + 1 + slots + names_on_top;
    Event& event = events_[side];
    event.op = Op::call_;
    event.pops = pops, event.results = 1;
    if (instruction.arg < 0 || frame.stack.size() < std::size_t(pops)) return false;
    if (names_on_top) {
      if (frame.stack.back() != names_of_call || frame.at == 0) return false;
      event.constant = code.constant_at(frame.at - 1);
      if (!event.constant) return false;
    } else if (op == Op::call_ && instruction.aux >= 0) {
      event.constant = &code.decoded.constant(instruction.aux);
    }
    if (event.constant && event.constant->kind == Kind::tuple && event.constant->items.empty())
      event.constant = nullptr;
    if (slots ? !callable(side, frame, pops) : !add_operand(side, frame.stack[frame.stack.size() - std::size_t(pops)]))
      return false;
    const auto arguments = frame.stack.end() - (instruction.arg + names_on_top);
    for (auto value = arguments; value != arguments + instruction.arg; ++value)
      if (!add_operand(side, *value)) return false;
    return true;
  }

  bool call_expanded(int side, const Frame& frame, const Instruction& instruction) {
    const bool slot = instruction.aux & 1;
    const int pops = 2 + instruction.arg + slot;
    Event& event = events_[side];
    event.pops = pops, event.results = 1;
    const std::size_t depth = frame.stack.size();
    if (instruction.arg < 0 || instruction.arg > 1 || depth < std::size_t(pops)) return false;
    if (slot ? !callable(side, frame, pops) : !add_operand(side, frame.stack[depth - std::size_t(pops)])) return false;
    if (operands_[side].size() > 1 || !add_operand(side, frame.stack[depth - 1 - std::size_t(instruction.arg)]))
      return false;
    const Value keywords = instruction.arg ? frame.stack.back() : null_value;
    return keywords == null_value || add_operand(side, keywords);
  }

  // A function with all that is set on it at once. `frame` is left behind the last of these instructions.
  bool make_function(int side, Frame& frame, const Instruction& instruction) {
    const Code& code = codes_[side];
    Event& event = events_[side];
    int code_at = frame.at - 1;
    if (instruction.aux) {
      const Constant* name = code_at >= 0 ? code.constant_at(code_at) : nullptr;
      if (!name || name->kind != Kind::string || frame.stack.empty() || frame.stack.back() != qualified_name)
        return false;
      event.name = &name->text;
      frame.stack.pop_back();
      --code_at;
    }
    const Constant* nested = code_at >= 0 ? code.constant_at(code_at) : nullptr;
    if (!nested || !nested->code || frame.stack.empty()) return false;
    if (!event.name) event.name = &nested->code->qualname;
    // The function of a class body has the class's own name to 3.10; only __build_class__ sees it.
    const bool apart = codes_[0].has_table != codes_[1].has_table;
    if (apart && !(nested->code->flags & CodeObject::optimized)) event.name = &nested->code->name;
    constexpr int attributes = 5;
    Value set[attributes] = {};
    const Value function = frame.stack.back();
    frame.stack.pop_back();
    for (int attribute : {3, 2, 1, 0})
      if (instruction.arg & 1 << attribute) {
        if (frame.stack.empty()) return false;
        set[attribute] = frame.stack.back();
        frame.stack.pop_back();
        if (set[attribute] == null_value) return false;
      }
    while (code.op_at(frame.at + 1) == Op::set_function_attribute_) {
      const int flag = code.instructions[std::size_t(++frame.at)].arg;
      if (frame.stack.empty() || flag <= 0 || !std::has_single_bit(unsigned(flag)) || flag >= 1 << attributes)
        return false;
      Value& value = set[std::countr_zero(unsigned(flag))];
      if (value != null_value || frame.stack.back() == null_value) return false;
      value = frame.stack.back();
      frame.stack.pop_back();
    }
    operands_[side].push_back(function);
    operands_[side].insert(operands_[side].end(), set, set + attributes);
    event.results = 1;
    event.raises = false;
    return true;
  }

  // Shows a constant of those that are gathered one by one, or the tuple or list of them.
  bool gathered(int side, const Frame& frame, const std::vector<Constant>& items, Op build) {
    Event& event = events_[side];
    const auto index = std::size_t(frame.phase - 1);
    event.results = 1;
    event.raises = false;
    if (index < items.size()) {
      event.op = Op::load_const_;
      event.constant = &items[index];
      return true;
    }
    event.op = build;
    event.folded = build == Op::build_tuple_;
    event.detail = event.pops = std::int32_t(items.size());
    return take(side, frame, event.pops);
  }
  // A list of constants, which compilers copy from a tuple.
  bool starts_list_of_constants(const Code& code, int at) const {
    if (code.instructions[std::size_t(at)].arg != 0 || code.op_at(at + 1) != Op::load_const_ ||
        code.op_at(at + 2) != Op::list_extend_ || code.instructions[std::size_t(at) + 2].arg != 1)
      return false;
    return code.constant_at(at + 1)->kind == Kind::tuple;
  }

  bool show(int side, Frame& frame) {
    Event& event = events_[side];
    operands_[side].clear();
    event = {};
    if (frame.at == left_frame) {
      event.op = Op::reraise_;
      event.then = Event::Then::end;
      event.raises = false;
      return add_operand(side, frame.stack.back());
    }
    const Code& code = codes_[side];
    const Instruction& instruction = code.instructions[std::size_t(frame.at)];
    const Op op = event.op = instruction.op;
    const std::size_t depth = frame.stack.size();
    if (code.is_class_detail(frame.at)) return class_detail(side, frame);
    switch (op) {
      case Op::load_const_:
        if (frame.phase) return gathered(side, frame, code.constant_at(frame.at)->items, Op::build_tuple_);
        event.constant = &code.decoded.constant(instruction.arg);
        event.results = 1;
        event.raises = false;
        return true;
      case Op::load_int_:
        event.op = Op::load_const_;
        event.number = std::to_string(instruction.arg);
        event.results = 1;
        event.raises = false;
        return true;
      case Op::load_common_constant_:
      case Op::load_assertion_error_:
      case Op::load_locals_:
      case Op::return_generator_:
        event.raises = false;
        return simple(side, frame, instruction, op == Op::load_common_constant_ ? instruction.arg : 0);

      case Op::store_fast_:
      case Op::load_closure_:
      case Op::make_cell_: event.raises = false; return local(side, frame, instruction);
      case Op::load_fast_:
      case Op::delete_fast_:
      case Op::load_deref_:
      case Op::store_deref_:
      case Op::delete_deref_:
      case Op::load_class_deref_:
      case Op::load_from_dict_or_deref_: return local(side, frame, instruction);

      case Op::load_attr_:
      case Op::load_method_:
        event.op = Op::load_attr_;
        event.name = &code.decoded.code->names[std::size_t(instruction.arg)];
        event.pops = event.results = 1;
        return take(side, frame, 1);
      case Op::load_super_attr_:
        event.detail = instruction.aux >> 1;
        event.name = &code.decoded.code->names[std::size_t(instruction.arg)];
        event.pops = 3, event.results = 1;
        return take(side, frame, 3);
      case Op::load_global_:
      case Op::load_name_:
      case Op::delete_name_:
      case Op::store_name_:
      case Op::store_global_:
      case Op::delete_global_:
      case Op::load_from_dict_or_globals_:
      case Op::store_attr_:
      case Op::delete_attr_: return named(side, frame, instruction);
      case Op::import_name_:
        if (!named(side, frame, instruction)) return false;
        event.detail = instruction.aux;
        return true;
      case Op::import_from_:
        event.name = &code.decoded.code->names[std::size_t(instruction.arg)];
        return peeks(side, frame, 1, 1);

      case Op::compare_op_:
        if (frame.phase) return test(side, frame);
        return simple(side, frame, instruction, instruction.arg);
      case Op::to_bool_:
      case Op::unary_op_:
        if (op == Op::to_bool_ || static_cast<UnaryOp>(instruction.arg) == UnaryOp::not_) return test(side, frame);
        return simple(side, frame, instruction, instruction.arg);
      case Op::is_op_:
        event.boolean = true;
        event.raises = false;
        if (!simple(side, frame, instruction, 0)) return false;
        // Which equal tuples of constants are one object is the compiler's choice.
        return !((flags_of(operands_[side][0]) & flags_of(operands_[side][1])) & is_tuple_of_constants);
      case Op::contains_op_: event.boolean = true; return simple(side, frame, instruction, 0);
      case Op::pop_jump_if_none_:
      case Op::pop_jump_if_not_none_:
        if (depth < 1) return false;
        if (frame.phase == 0) {
          event.op = Op::is_op_;
          event.boolean = true;
          event.raises = false;
          event.pops = 2, event.results = 1;
          return add_operand(side, frame.stack.back()) && add_operand(side, none_value);
        }
        return branch(side, frame, op == Op::pop_jump_if_none_, false);
      case Op::pop_jump_if_true_:
      case Op::pop_jump_if_false_:
        if (depth < 1) return false;
        if (!is_truth(frame.stack.back())) return test(side, frame);
        return branch(side, frame, op == Op::pop_jump_if_true_, false);
      case Op::jump_if_true_or_pop_:
      case Op::jump_if_false_or_pop_:
        if (depth < 1) return false;
        if (frame.phase == 0 && !is_truth(frame.stack.back())) return test(side, frame);
        return branch(side, frame, op == Op::jump_if_true_or_pop_, true);

      case Op::binary_op_: return simple(side, frame, instruction, instruction.arg << 1 | instruction.aux);
      case Op::build_list_:
        if (starts_list_of_constants(code, frame.at))
          return gathered(side, frame, code.constant_at(frame.at + 1)->items, op);
        [[fallthrough]];
      case Op::build_tuple_:
        event.raises = false;
        if (op == Op::build_tuple_ && instruction.arg == 0) {  // which is the constant
          event.op = Op::load_const_;
          event.constant = &empty_tuple_;
          event.results = 1;
          return true;
        }
        return simple(side, frame, instruction, instruction.arg);
      case Op::build_slice_:
      case Op::build_map_:
      case Op::build_const_key_map_:
      case Op::build_string_:
      case Op::build_set_:
      case Op::convert_value_:
      case Op::intrinsic_1_:
      case Op::intrinsic_2_:
      case Op::get_awaitable_:
      case Op::load_special_:
      case Op::match_class_:
      case Op::unpack_sequence_: return simple(side, frame, instruction, instruction.arg);
      case Op::build_unpack_:
      case Op::build_interpolation_:
      case Op::format_value_: return simple(side, frame, instruction, instruction.arg << 3 | instruction.aux);
      case Op::unpack_ex_: return simple(side, frame, instruction, instruction.arg << 16 | instruction.aux);
      case Op::binary_subscr_:
      case Op::binary_slice_:
      case Op::store_subscr_:
      case Op::store_slice_:
      case Op::delete_subscr_:
      case Op::load_build_class_:
      case Op::import_star_:
      case Op::get_iter_:
      case Op::get_aiter_:
      case Op::get_yield_from_iter_:
      case Op::yield_from_:
      case Op::setup_annotations_:
      case Op::print_expr_:
      case Op::check_eg_match_:
      case Op::list_to_tuple_:
      case Op::async_gen_wrap_:
      case Op::before_with_:
      case Op::before_async_with_:
      case Op::build_template_: return simple(side, frame, instruction, 0);
      case Op::list_append_:
      case Op::set_add_:
      case Op::map_add_:
      case Op::list_extend_:
      case Op::set_update_:
      case Op::dict_update_:
      case Op::dict_merge_: {
        const int added = op == Op::map_add_ ? 2 : 1;
        if (instruction.arg < 1 || depth < std::size_t(instruction.arg + added)) return false;
        event.pops = added;
        return add_operand(side, frame.stack[depth - std::size_t(instruction.arg + added)]) && take(side, frame, added);
      }
      case Op::call_:
      case Op::call_kw_:
      case Op::call_function_:
      case Op::call_function_kw_: return call(side, frame, instruction);
      case Op::call_function_ex_: return call_expanded(side, frame, instruction);
      case Op::make_function_: return make_function(side, frame, instruction);

      case Op::for_iter_:
        event.then = Event::Then::iterate;
        event.results = 1;
        return take(side, frame, 1);
      case Op::send_:
        event.then = Event::Then::send;
        event.results = 1;
        return code.has_table && take(side, frame, 2);
      case Op::yield_value_: {
        if (!simple(side, frame, instruction, 0)) return false;
        // Whether throw() goes to what is being waited for.
        const bool resumes = code.op_at(frame.at + 1) == Op::resume_;
        const bool delegates = dialect_of(code.version).yield_tells_await
                                   ? (instruction.arg & 1) != 0
                                   : resumes && (code.instructions[std::size_t(frame.at) + 1].arg & 3) >= 2;
        event.detail = code.has_table && delegates;
        return true;
      }
      case Op::return_value_:
        event.then = Event::Then::end;
        event.raises = false;
        return take(side, frame, 1);
      case Op::raise_: event.then = Event::Then::raise; return simple(side, frame, instruction, instruction.arg);

      case Op::check_exc_match_:
        event.boolean = true;
        event.pops = event.results = 1;
        if (code.has_table) return take(side, frame, 2);
        event.pops = 2;
        return depth >= 2 && frame.stack[depth - 2] % parts == class_part &&
               add_operand(side, frame.stack[depth - 2] - class_part) && add_operand(side, frame.stack.back());
      case Op::end_async_for_:
        event.then = Event::Then::end_async_for;
        if (code.has_table) return take(side, frame, 1);
        return depth >= 2 && add_operand(side, frame.stack[depth - 2]);
      case Op::setup_with_:
        event.op = Op::before_with_;
        event.pops = 1, event.results = 2;
        return !code.has_table && take(side, frame, 1);
      case Op::with_cleanup_start_: return with_cleanup(side, frame);
      case Op::with_cleanup_finish_:
        if (!is_truth(frame.stack.back())) return test(side, frame);
        return branch(side, frame, true, false);
      case Op::cleanup_throw_:
        event.then = Event::Then::cleanup_throw;
        return code.has_table && depth >= 3 && take(side, frame, 1);
      case Op::with_except_start_: {
        const std::size_t exit = dialect_of(code.version).exit_with_self ? 5
                                 : code.has_table                        ? 4
                                                                         : 1 + 2 * exception_values;
        if (depth < exit) return false;
        event.results = 1;
        const Value exception = frame.stack[depth - (code.has_table ? 1 : 2)];
        if (!add_operand(side, frame.stack[depth - exit]) || !add_operand(side, exception)) return false;
        if (exit == 5) operands_[side].push_back(frame.stack[depth - 4]);
        return true;
      }
      case Op::get_anext_:
      case Op::get_len_: return peeks(side, frame, 1, 1);
      case Op::match_mapping_:
      case Op::match_sequence_:
        event.boolean = true;
        event.raises = false;
        return peeks(side, frame, 1, 1);
      case Op::match_keys_: return peeks(side, frame, 2, stack_effect(instruction, code.version, false).pushes);
      case Op::copy_dict_without_keys_: event.pops = 1; return peeks(side, frame, 2, 1);
      default: return false;
    }
  }

  // 3.8: the exit of a with statement is called, below what says how the subroutine goes on.
  bool with_cleanup(int side, const Frame& frame) {
    Event& event = events_[side];
    const std::size_t depth = frame.stack.size();
    if (codes_[side].has_table || depth < 2) return false;
    event.results = 1;
    const Value reason = frame.stack.back();
    if (reason % parts == class_part) {
      constexpr std::size_t exit = 1 + 2 * exception_values;
      if (depth < exit || frame.blocks.empty() || frame.blocks.back().target != is_running ||
          frame.blocks.back().level < 1)
        return false;
      event.op = Op::with_except_start_;
      return add_operand(side, frame.stack[depth - exit]) && add_operand(side, reason - class_part);
    }
    if (reason != null_value && reason % parts != address_part) return false;
    event.op = Op::call_;
    if (!add_operand(side, frame.stack[depth - 2])) return false;
    operands_[side].insert(operands_[side].end(), exception_values, none_value);
    return true;
  }

  // Takes the exit function from where it lies, and puts its result on top, above what it was told.
  void after_with_cleanup(Frame& frame) const {
    std::vector<Value>& stack = frame.stack;
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

  // Of the line nothing counts, of the names which they are: the prover says so too.
  bool class_detail(int side, const Frame& frame) {
    const Code& code = codes_[side];
    const Instruction& store = code.instructions[std::size_t(frame.at) + 1];
    Event& event = events_[side];
    event.op = Op::store_name_;
    event.detail = 1;
    event.name = &code.decoded.code->names[std::size_t(store.arg)];
    if (frame.at == code.attributes_at) event.constant = code.constant_at(frame.at);
    return handler_at(side, frame.at) == handler_at(side, frame.at + 1);
  }

  bool branch(int side, const Frame& frame, bool jumps_if, bool keeps) {
    Event& event = events_[side];
    event.op = Op::jump_;
    event.then = Event::Then::branch;
    event.raises = false;
    event.keeps = keeps;
    const Value tested = keeps && frame.phase ? frame.phase : frame.stack.back();
    const bool negated = tested % parts == negated_part;
    event.holds = jumps_if != negated;
    operands_[side].push_back(negated ? negation(tested) : tested);
    return true;
  }

  bool same_slots(int one, int two, Frames& frames) {
    if (one < 0 || two < 0) return one == two;
    if (Shadow* shadow = shadow_of(frames, one)) return same_shadow(*shadow, two, frames);
    int &forth = codes_[0].slot_partner[std::size_t(one)], &back = codes_[1].slot_partner[std::size_t(two)];
    if (forth == two && back == one) return true;
    if (forth != -1 || back != -1) return false;
    if (codes_[0].decoded.localsplus[std::size_t(one)] != codes_[1].decoded.localsplus[std::size_t(two)] ||
        codes_[0].is_cell[std::size_t(one)] != codes_[1].is_cell[std::size_t(two)])
      return false;
    forth = two;
    back = one;
    return true;
  }

  // Stores that follow each other, whose order nobody sees: compilers change it for `a, b = x, y`.
  bool store_all(Frames& frames) {
    std::size_t counts[2] = {};
    for (int side = 0; side < 2; ++side) {
      const Frame& frame = frames.sides[side];
      if (frame.at == left_frame) return false;
      while (counts[side] < frame.stack.size() && frame.stack[frame.stack.size() - 1 - counts[side]] > null_value &&
             codes_[side].op_at(frame.at + int(counts[side])) == Op::store_fast_)
        ++counts[side];
    }
    const std::size_t count = std::min(counts[0], counts[1]);
    if (count < 2 || frames.sides[0].handled != frames.sides[1].handled) return false;
    const auto slot = [&](int side, std::size_t index) {
      return codes_[side].instructions[std::size_t(frames.sides[side].at) + index].arg;
    };
    const auto stored = [&](int side, std::size_t index) {
      const std::vector<Value>& stack = frames.sides[side].stack;
      return stack[stack.size() - 1 - index];
    };
    std::vector<bool> is_taken(count);
    for (std::size_t one = 0; one < count; ++one) {
      std::size_t two = 0;
      for (; two < count; ++two)
        if (!is_taken[two] && stored(0, one) == stored(1, two) && stored(0, one) % parts != self_part &&
            codes_[0].decoded.localsplus[std::size_t(slot(0, one))] ==
                codes_[1].decoded.localsplus[std::size_t(slot(1, two))])
          break;
      if (two == count || !same_slots(slot(0, one), slot(1, two), frames)) return false;
      is_taken[two] = true;
      for (std::size_t earlier = 0; earlier < one; ++earlier)  // the last of two stores counts
        if (slot(0, earlier) == slot(0, one)) return false;
    }
    for (Frame& frame : frames.sides) {
      frame.at += int(count);
      frame.stack.resize(frame.stack.size() - count);
    }
    return true;
  }

  // The local of a comprehension: what is stored there is loaded there.
  bool same_shadow(Shadow& shadow, int two, Frames& frames) {
    const Op op = events_[0].op;
    if (op == Op::load_fast_ || op == Op::delete_fast_) return shadow.partner == two;
    int& back = codes_[1].slot_partner[std::size_t(two)];
    if (op != Op::store_fast_ || back >= 0) return false;
    back = is_shadow;
    for (Shadow& around : frames.shadows)
      if (around.partner == two) around.partner = -1;
    shadow.partner = two;
    return true;
  }

  bool same_constants(const Event& one, const Event& two, const Frames& frames) {
    if (!one.constant || !two.constant) {
      if (one.constant == two.constant) return one.number == two.number;
      const Constant& constant = one.constant ? *one.constant : *two.constant;
      const std::string& number = one.constant ? two.number : one.number;
      return constant.kind == Kind::integer && !number.empty() && constant.text == number;
    }
    if (one.constant->code && two.constant->code) {
      if (one.constant->code->freevars != two.constant->code->freevars) return false;
      pairs_.emplace_back(one.constant->code.get(), two.constant->code.get());
      return true;
    }
    if (one.op == Op::store_name_) {
      std::vector<std::string_view> names[2];
      for (int side = 0; side < 2; ++side) {
        const Constant& attributes = *events_[side].constant;
        if (attributes.kind != Kind::tuple) return false;
        for (const Constant& attribute : attributes.items) names[side].push_back(attribute.text);
        std::ranges::sort(names[side]);
      }
      return names[0] == names[1];
    }
    const bool is_searched = codes_[0].op_at(frames.sides[0].at + 1) == Op::contains_op_ &&
                             codes_[1].op_at(frames.sides[1].at + 1) == Op::contains_op_;
    return same_constant(*one.constant, *two.constant, is_searched);
  }

  bool same_events(Frames& frames) {
    const Event &one = events_[0], &two = events_[1];
    if (one.op != two.op || one.then != two.then || one.detail != two.detail || one.results != two.results ||
        one.boolean != two.boolean || operands_[0] != operands_[1])
      return false;
    // To 3.10 the end of an async for is within a handler, from 3.11 on it is not; nothing runs there that could see it.
    if (frames.sides[0].handled != frames.sides[1].handled && one.then != Event::Then::end_async_for) return false;
    if (one.name != two.name && (!one.name || !two.name || *one.name != *two.name)) return false;
    return same_slots(one.local, two.local, frames) && same_constants(one, two, frames);
  }

  // Goes behind an event on both sides. `ended`: nothing follows on this way.
  bool go_on(Frames& frames, bool& ended) {
    const Event::Then then = events_[0].then;
    if (events_[0].raises || events_[1].raises) {
      const bool keeps_exception = then == Event::Then::end_async_for || then == Event::Then::cleanup_throw;
      if (!raise(frames, keeps_exception ? operands_[0][0] : 0)) return false;
    }
    switch (then) {
      case Event::Then::end:
      case Event::Then::raise: ended = true; return true;
      case Event::Then::branch: {
        Frames jumped = frames;
        for (int side = 0; side < 2; ++side) {
          if (!decide(side, jumped.sides[side], true) || !decide(side, frames.sides[side], false)) return false;
        }
        ahead_.push_back(std::move(jumped));
        return true;
      }
      case Event::Then::iterate: {
        Frames exhausted = frames;
        const Value item = fresh();
        for (int side = 0; side < 2; ++side) {
          Frame& frame = exhausted.sides[side];
          const Instruction& instruction = codes_[side].instructions[std::size_t(frame.at)];
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
        Frames returned = frames;
        const Value result = fresh();
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
        const Value result = fresh();
        for (Frame& frame : frames.sides) {
          frame.stack.resize(frame.stack.size() - 3);
          frame.stack.insert(frame.stack.end(), {none_value, result});
          ++frame.at;
        }
        return true;
      }
      case Event::Then::next: break;
    }
    std::uint8_t flags = events_[0].boolean ? is_boolean : 0;
    if (const Constant* constant = events_[0].constant;
        constant && events_[0].op == Op::load_const_ && constant->kind == Kind::tuple && !constant->items.empty())
      flags |= is_tuple_of_constants;
    if (events_[0].folded || events_[1].folded) flags |= is_tuple_of_constants;
    const bool test = events_[0].op == Op::to_bool_;
    const int results = test ? 1 : events_[0].results;
    results_.clear();
    for (int index = 0; index < results; ++index) results_.push_back(fresh(index + 1 == results ? flags : 0));
    for (int side = 0; side < 2; ++side) next(side, frames.sides[side], test);
    return true;
  }

  bool decide(int side, Frame& frame, bool outcome) {
    const Event& event = events_[side];
    frame.phase = 0;
    if (codes_[side].op_at(frame.at) == Op::with_cleanup_finish_) {
      frame.stack.resize(frame.stack.size() - 2);
      if (event.holds == outcome) {  // the exception is swallowed
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

  // Puts the results on the stack of one side, and goes on to what it does next.
  void next(int side, Frame& frame, bool test) {
    const Code& code = codes_[side];
    const Event& event = events_[side];
    const Instruction& instruction = code.instructions[std::size_t(frame.at)];
    const Op op = instruction.op;
    if (test) {
      // A jump that may keep the value has the truth beside it; the others, and `not`, find it in its place.
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
    if (op == Op::setup_with_)
      frame.blocks.push_back({instruction.target, int(frame.stack.size())});  // above the exit function
    if (op != Op::make_function_) frame.stack.resize(frame.stack.size() - std::size_t(event.pops));
    frame.stack.insert(frame.stack.end(), results_.begin(), results_.end());
    const bool inverts = (op == Op::is_op_ || op == Op::contains_op_) && instruction.arg;
    if (inverts) frame.stack.back() = negation(frame.stack.back());
    if (op == Op::load_method_ || (op == Op::load_super_attr_ && (instruction.aux & 1)))
      frame.stack.push_back(results_[0] + self_part);
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

  // Notes the handlers that an exception of this event leads to. `exception`: 0: one that nobody has seen yet.
  bool raise(const Frames& frames, Value exception) {
    const int ranges[] = {handler_at(0, frames.sides[0].at), handler_at(1, frames.sides[1].at)};
    const auto has_handler = [&](int side) {
      return codes_[side].has_table ? ranges[side] >= 0 : !frames.sides[side].blocks.empty();
    };
    if (!has_handler(0) && !has_handler(1)) return true;
    const auto below = [&](int side) {
      const Frame& frame = frames.sides[side];
      std::size_t depth = 0;
      if (ranges[side] >= 0) depth = std::size_t(codes_[side].decoded.ranges[std::size_t(ranges[side])].depth);
      // A handler that runs has what was handled before it behind its level.
      if (!frame.blocks.empty())
        depth = std::size_t(std::max(frame.blocks.back().level, 0)) +
                (frame.blocks.back().target == is_running ? exception_values : 0);
      return std::span(frame.stack).first(std::min(depth, frame.stack.size()));
    };
    if (exception == 0) {
      // Most events of a block lead to the same handlers with the same values below.
      for (const Raised& raised : raised_ | std::views::reverse)
        if (raised.ranges[0] == ranges[0] && raised.ranges[1] == ranges[1] &&
            raised.handled[0] == frames.sides[0].handled && raised.handled[1] == frames.sides[1].handled &&
            raised.shadows == frames.shadows && raised.blocks[0] == frames.sides[0].blocks &&
            raised.blocks[1] == frames.sides[1].blocks && std::ranges::equal(raised.below[0], below(0)) &&
            std::ranges::equal(raised.below[1], below(1)))
          return true;
      Raised& raised = raised_.emplace_back();
      raised.shadows = frames.shadows;
      for (int side = 0; side < 2; ++side) {
        raised.ranges[side] = ranges[side];
        raised.handled[side] = frames.sides[side].handled;
        raised.blocks[side] = frames.sides[side].blocks;
        const auto values = below(side);
        raised.below[side].assign(values.begin(), values.end());
      }
      exception = fresh();
    }
    Frames unwound = frames;
    for (int side = 0; side < 2; ++side)
      if (!unwind(side, unwound.sides[side], exception)) return false;
    ahead_.push_back(std::move(unwound));
    return true;
  }

  Code codes_[2];
  Constant empty_tuple_;
  std::vector<CodePair>& pairs_;
  std::vector<Frames> ahead_;
  std::vector<std::uint8_t> flags_;  // by base
  std::vector<int> first_point_;  // by instruction of the first side, behind the end of the frame
  std::vector<Point> points_;
  std::vector<Value> pattern_, numbered_, results_;
  std::vector<Merged> merged_;
  std::vector<Raised> raised_;
  Event events_[2];
  std::vector<Value> operands_[2];
  Value saved_ = 0;  // how many locals were given to comprehensions
  std::int64_t steps_ = 0, steps_most_ = 0;
};

}  // namespace

bool run_in_lockstep(const DecodedCode& one, const DecodedCode& two, std::vector<CodePair>& codes,
                     std::int64_t& steps) {
  Lockstep lockstep(one, two, codes);
  const bool proved = lockstep.run();
  steps = lockstep.steps();
  return proved;
}

}  // namespace depyf
