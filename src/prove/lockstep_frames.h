// Describes the state of two code objects that are run in step, and their events, which are the actions that other code
// can observe; lockstep.cpp explains the method.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decode/op.h"
#include "prove/lockstep_values.h"

namespace depyf::lockstep {

// The value of `Code::slot_partner` for a local of the second code object that only inlined comprehensions use.
inline constexpr int is_shadow = -2;
// The value of `Frame::at` after an exception has left the frame; the stack of the frame then contains only the
// exception.
inline constexpr int left_frame = -1;

// One of the two code objects, with the facts about each instruction that are needed to run it in step with the
// other.
struct Code {
  explicit Code(const DecodedCode& decoded_code);

  bool is_class_detail(int at) const { return at >= 0 && (at == line_at || at == attributes_at); }
  // Executes the instructions MAKE_CELL and COPY_FREE_VARS at the start, whose order nobody observes, and returns the
  // index of the first instruction after them.
  int begin();
  // Returns the constant that the instruction `at` loads by LOAD_CONST; null if `at` is no LOAD_CONST.
  const Constant* constant_at(int at) const {
    const Instruction& instruction = instructions[std::size_t(at)];
    return instruction.op == Op::load_const_ ? &decoded.constant(instruction.arg) : nullptr;
  }
  // Returns the operation at `at`, or NOP past the end of the code, because no caller looks for NOP.
  Op op_at(int at) const { return std::size_t(at) < instructions.size() ? instructions[std::size_t(at)].op : Op::nop_; }
  int handler_at(int at) const { return handler_of.empty() || at < 0 ? -1 : handler_of[std::size_t(at)]; }
  bool starts_list_of_constants(int at) const;

  const DecodedCode& decoded;
  const Instructions& instructions;
  Version version;
  bool has_table = true;
  std::vector<std::uint8_t> meets;  // for each instruction: true if it is a jump target or the start of a handler
  std::vector<int> handler_of;  // for each instruction: index of its protected range, or -1; empty if there are none
  // The indices of the instructions that load the values to store as `__firstlineno__` and `__static_attributes__`; -1
  // if the code has no such load.
  int line_at = -1, attributes_at = -1;
  // For each local: the corresponding local of the other code object; -1 if none is known. It may be `is_shadow`.
  std::vector<int> slot_partner;
  std::vector<std::uint8_t> is_cell;  // for each local: true if it contains a cell after `begin` has run

 private:
  void find_class_details();
};

// An entry of the block stack (up to 3.10): a block that SETUP_FINALLY or another SETUP instruction has pushed, or a
// running handler.
struct Block {
  int target = 0;  // the handler's first instruction, or `is_running`
  int level = 0;  // the depth of the value stack
  friend bool operator==(const Block&, const Block&) = default;
};
inline constexpr int is_running = -1;
inline constexpr std::size_t exception_values = 3;  // stack slots of one exception, up to 3.10

// The frame of one of the two code objects.
struct Frame {
  int at = 0;
  // The progress within an instruction that counts as several events; 0 before the first event. While a constant tuple
  // is loaded item by item, `phase` is one more than the number of items that were loaded. After the truth test of a
  // JUMP_IF_x_OR_POP, `phase` is the Value of the result.
  int phase = 0;
  Value handled = callers_exception;
  std::vector<Value> stack;
  std::vector<Block> blocks;  // the block stack, which is empty from 3.11 on
};

// A local of the first code object that an inlined comprehension uses for its own variable (3.12 and later). Until the
// comprehension ends, the value that the local had before stays on the stack. For the variable of the comprehension,
// the second code object uses a separate local, the `partner`.
struct Shadow {
  int slot = 0;
  int partner = -1;  // the local of the second code object that has the same value; -1 if unknown
  Value saved = 0;  // the number for the previous value on the stack; 0 after the local was restored
  friend bool operator==(const Shadow&, const Shadow&) = default;
};

// The frames of both code objects at one moment.
struct Frames {
  Frame sides[2];
  std::vector<Shadow> shadows;
};

// The observable part of what an instruction does: an operation on some operands, which other code can notice. The
// operands are stored in the two EventReaders, one for each of the compared code objects.
struct Event {
  enum class Then : std::uint8_t { next, branch, iterate, send, end, raise, end_async_for, cleanup_throw };
  Op op = Op::nop_;
  Then then = Then::next;
  bool raises = true;
  bool boolean = false;  // the result is True or False
  bool holds = false;  // for a branch: the truth value for which the code object jumps
  bool keeps = false;  // for a branch: true if the value stays on the stack after a jump
  bool folded = false;  // the event builds a tuple that may be a constant in the other code object
  std::int32_t detail = 0;
  int pops = 0, results = 0;
  int local = -1;  // the slot that the instruction reads or changes
  const std::string* name = nullptr;
  const Constant* constant = nullptr;  // the constant that is loaded, or the names of a call's keyword arguments
  std::optional<std::int32_t> integer;  // the integer that LOAD_SMALL_INT loads
};

// Returns the Shadow of the innermost comprehension that uses the local `slot` of the first code object; null if no
// comprehension uses the local.
Shadow* shadow_of(Frames& frames, int slot);
// Pops the block of the running handler, and restores the exception that was handled before (up to 3.10). The value
// stack stays unchanged. Returns false if no handler is running, or if the stack is too short.
bool leave_handler(Frame& frame);

}  // namespace depyf::lockstep
