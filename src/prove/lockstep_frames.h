// Describes the state of two code objects that are run in step, and the events that they show; lockstep.cpp explains
// the method.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decode/op.h"
#include "prove/lockstep_values.h"

namespace depyf::lockstep {

inline constexpr int is_shadow = -2;   // marks a local that only comprehensions use, in place of a partner
inline constexpr int left_frame = -1;  // `at` once an exception has left the frame; the stack holds only that exception

// The code of one side, with the facts that the walk asks of each instruction.
struct Code {
  explicit Code(const DecodedCode& decoded_code);

  bool is_class_detail(int at) const { return at >= 0 && (at == line_at || at == attributes_at); }
  // Runs the instructions at the start that make cells, whose order nobody observes. Returns the index of the first
  // other instruction.
  int begin();
  // Returns the constant that the instruction loads; null if it loads none.
  const Constant* constant_at(int at) const {
    const Instruction& instruction = instructions[std::size_t(at)];
    return instruction.op == Op::load_const_ ? &decoded.constant(instruction.arg) : nullptr;
  }
  // Reading behind the end gives NOP, which no caller looks for.
  Op op_at(int at) const { return std::size_t(at) < instructions.size() ? instructions[std::size_t(at)].op : Op::nop_; }
  int handler_at(int at) const { return handler_of.empty() || at < 0 ? -1 : handler_of[std::size_t(at)]; }
  bool starts_list_of_constants(int at) const;

  const DecodedCode& decoded;
  const std::vector<Instruction>& instructions;
  Version version;
  bool has_table = true;
  std::vector<std::uint8_t> meets;  // for each instruction: whether jumps or handlers lead there
  std::vector<int> handler_of;  // for each instruction: its protected range, or -1; empty without ranges
  int line_at = -1, attributes_at = -1;  // the load before the store of a class detail, or -1
  std::vector<int> slot_partner;  // for each local: the local of the other side that it is paired with, or -1
  std::vector<std::uint8_t> is_cell;  // for each local: whether it holds a cell from the start on

 private:
  void find_class_details();
};

// An entry of the block stack (until 3.10): a block that SETUP_FINALLY or its like has pushed, or a running handler.
struct Block {
  int target = 0;  // the handler's first instruction, or `is_running`
  int level = 0;  // the depth of the value stack
  friend bool operator==(const Block&, const Block&) = default;
};
inline constexpr int is_running = -1;
inline constexpr std::size_t exception_values = 3;  // stack slots of one exception, until 3.10

// The frame of one side.
struct Frame {
  int at = 0;
  // The progress of an instruction that shows several events. During the gathering of constants it is one more than the
  // number of constants that were loaded.
  int phase = 0;
  Value handled = callers_exception;
  std::vector<Value> stack;
  std::vector<Block> blocks;  // until 3.10
};

// A local of the first side that a comprehension has taken over (3.12 and later). The local's own value waits on the
// stack meanwhile. The second side uses another local for the comprehension.
struct Shadow {
  int slot = 0;
  int partner = -1;  // the local of the second side that has the same value; -1 if none is known
  Value saved = 0;  // stands for the waiting value; 0 once that value is back in the local
  friend bool operator==(const Shadow&, const Shadow&) = default;
};

// The frames of both sides at one moment.
struct Frames {
  Frame sides[2];
  std::vector<Shadow> shadows;
};

// The behaviour of an instruction that others can observe. Its operands are kept by the EventReader of each side.
struct Event {
  enum class Then : std::uint8_t { next, branch, iterate, send, end, raise, end_async_for, cleanup_throw };
  Op op = Op::nop_;
  Then then = Then::next;
  bool raises = true;
  bool boolean = false;  // the result is True or False
  bool holds = false;  // for a branch: the outcome for which this side jumps
  bool keeps = false;  // for a branch: whether the value stays on the stack when this side jumps
  bool folded = false;  // a tuple that is built here, and is or may be a constant on the other side
  std::int32_t detail = 0;
  int pops = 0, results = 0;
  int local = -1;  // the slot that the instruction reads or changes
  const std::string* name = nullptr;
  const Constant* constant = nullptr;  // the constant that is loaded, or the names of a call's keyword arguments
  std::optional<std::int32_t> integer;  // an integer that is loaded and for which there is no constant
};

// Returns the innermost comprehension that has taken over the local; null if there is none.
Shadow* shadow_of(Frames& frames, int slot);
// Restores the exception that was handled before the running handler (until 3.10). The stack stays unchanged. Returns
// false if no handler is running.
bool leave_handler(Frame& frame);

// Returns true for two constants of the same type and value. Code objects are never the same here; callers compare
// them. `is_order_free` is true if the order of a set's items does not matter.
bool same_constant(const Constant& one, const Constant& two, bool is_order_free = false);

}  // namespace depyf::lockstep
