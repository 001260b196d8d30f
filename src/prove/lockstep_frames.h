// The state of two code objects that are run in step, and what their instructions show; see lockstep.cpp.
#pragma once

#include <string>
#include <vector>

#include "decode/op.h"
#include "prove/lockstep_values.h"

namespace depyf::lockstep {

inline constexpr int is_shadow = -2;  // the partner of a local that only comprehensions use
inline constexpr int left_frame = -1;  // `at` once an exception has left the frame; it alone lies on the stack

// One side's code, with what the walk asks of each instruction.
struct Code {
  explicit Code(const DecodedCode& decoded_code);

  bool is_class_detail(int at) const { return at >= 0 && (at == line_at || at == attributes_at); }
  // Runs the instructions at the start that make the cells, whose order nobody sees. Returns where it stopped.
  int begin();
  // The constant that the instruction loads, or null.
  const Constant* constant_at(int at) const {
    const Instruction& instruction = instructions[std::size_t(at)];
    return instruction.op == Op::load_const_ ? &decoded.constant(instruction.arg) : nullptr;
  }
  Op op_at(int at) const { return std::size_t(at) < instructions.size() ? instructions[std::size_t(at)].op : Op::nop_; }
  int handler_at(int at) const { return handler_of.empty() || at < 0 ? -1 : handler_of[std::size_t(at)]; }
  bool starts_list_of_constants(int at) const;

  const DecodedCode& decoded;
  const std::vector<Instruction>& instructions;
  Version version;
  bool has_table = true;
  std::vector<std::uint8_t> meets;  // by instruction: jumps or handlers lead there
  std::vector<int> handler_of;  // by instruction: its range, or -1; empty where there are no ranges
  int line_at = -1, attributes_at = -1;  // the load before such a store, or -1
  std::vector<int> slot_partner;  // by local: that of the other side, or -1
  std::vector<std::uint8_t> is_cell;  // by local: it holds a cell from the start on

 private:
  void find_class_details();
};

// To 3.10: what SETUP_FINALLY and its like put on the block stack, or a handler that runs.
struct Block {
  int target = 0;  // of the handler; is_running: it runs
  int level = 0;  // depth of the value stack
  friend bool operator==(const Block&, const Block&) = default;
};
inline constexpr int is_running = -1;
inline constexpr std::size_t exception_values = 3;  // an exception on the stack, to 3.10

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

// The last comprehension that has the local, or null.
Shadow* shadow_of(Frames& frames, int slot);
// To 3.10: what was handled before the handler that runs is so again. The stack stays. False if no handler runs.
bool leave_handler(Frame& frame);

// True for constants of one type and value. Code objects are left to the caller.
bool same_constant(const Constant& one, const Constant& two, bool is_order_free = false);

}  // namespace depyf::lockstep
