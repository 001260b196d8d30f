// The walk over code of CPython 3.8 to 3.10 by which `replace_block_stack` replaces the block stack, and the result of
// the walk.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "decode/decode.h"
#include "decode/op.h"
#include "support/table.h"

namespace depyf {

// The result of `Unwinder::run`: for each instruction its replacement and the block that protects it.
struct Unwound {
  // An entry of the block stack. A SETUP instruction makes two blocks: one of kind `setup` for its body, and behind it
  // one of kind `handler` for its handler.
  struct Block {
    enum class Kind { setup, handler };
    Kind kind = Kind::setup;
    int parent = -1;  // the index of the enclosing block, or -1 for an outermost block
    int target = -1;  // the instruction where the handler starts
    // The depth of the operand stack at the start of the handler, without the values of the exception.
    int level = 0;
    // The depth `level` in the rewritten code, in which some stack slots of earlier exceptions do not exist.
    int kept = 0;
    int nesting = 0;
    bool with = false;  // true for a with statement
    // True if the handler is no region of its own: the end of `except T as e`, or END_ASYNC_FOR.
    bool bare = false;
    bool called = false;  // 3.8: CALL_FINALLY or BEGIN_FINALLY leads to the handler
  };
  // The end of a with statement in 3.8: its handler block, and for `async with` the instructions [await_begin,
  // await_end) of the await.
  struct WithHandler {
    int handler, await_begin, await_end;
  };

  explicit Unwound(const Instructions& instructions)
      : old(instructions), code(old), seen(old.size()), cover(old.size(), -1) {}

  // The instructions of the decoded code, unchanged.
  Instructions old;
  // The replacement of each instruction. Targets are indices into `old`.
  Instructions code;
  // True for each instruction that `Unwinder` has visited.
  Table<bool> seen;
  Table<int> cover;  // the block that protects each instruction, or -1 for an unprotected one
  Table<Block> blocks;
  std::unordered_map<int, int> handler_of;  // maps the start of a handler to its block
  // Maps an old instruction to further instructions that replace it, which are written behind its entry in `code`.
  std::unordered_map<int, Instructions> after;
  // If `after` adds a `protected_` operation behind an old instruction, `protected_after` maps the old instruction to
  // the block that protects the added operation. If `after` adds a POP_EXCEPT, `left_after` maps the old instruction to
  // the block that protects the POP_EXCEPT.
  std::unordered_map<int, int> protected_after, left_after;
  // For 3.8: maps an instruction that follows the handlers of a try statement to the argument of its `behind_handlers`
  // operation.
  std::unordered_map<int, int> behind_handlers;
  // The handlers of the with statements of 3.8. Each key is the instruction behind which the handler is written.
  std::unordered_map<int, WithHandler> with_handlers;
};

// Replaces the instructions and ranges of `decoded` by those that `unwound` describes.
void write_unwound(const Unwound& unwound, DecodedCode& decoded);

// True if the jump is JUMP_FORWARD in the bytecode of 3.8; the decoder translates all unconditional jumps to one
// operation.
bool is_jump_forward(const CodeObject& code, const Instruction& it);

// True if the else clause of a try statement starts at `at` with a `break`: END_FINALLY; JUMP_ABSOLUTE forward, out of
// the loop. In a for loop, POP_TOP precedes the jump of the `break`, which may lead back to the start of an outer loop.
bool is_else_break(const CodeObject& code_object, const Instructions& code, int at);

// Executes code of 3.8 to 3.10 over abstract states along every path, and determines the replacement of each
// instruction.
class Unwinder {
  // `Stop` is thrown if the code has no equivalent with an exception table. `Stop` holds the instruction that cannot be
  // replaced, and the reason.
 public:
  struct Stop {
    int at;
    const char* what;
  };

  explicit Unwinder(const DecodedCode& decoded);
  Unwound run();  // throws Stop

 private:
  // The kind of a stack slot that does not contain an ordinary value. Up to 3.10, a handler starts with six slots for
  // exceptions: traceback, value and type of the exception that was handled before, and traceback, value and type of
  // the exception itself. Of the slots for exceptions, the rewritten code keeps only `value` and `previous` and, in the
  // handler of a with statement, `lasti`.
  enum class Kind { traceback, value, type, previous, previous_rest, lasti, placeholder, no_exception };
  static bool is_gone(Kind kind) { return kind != Kind::value && kind != Kind::previous && kind != Kind::lasti; }
  struct Slot {
    int at;  // depth from the bottom of the stack
    Kind kind;
    bool operator==(const Slot&) const = default;
  };
  static bool is_gone(std::optional<Kind> kind) { return kind && is_gone(*kind); }
  // The operand stack in front of an instruction, and the block that protects the instruction (-1 if no block does).
  struct State {
    int block = -1;
    int depth = 0;
    Table<Slot> slots;
    bool operator==(const State&) const = default;

    std::optional<Kind> kind_at(int at) const;
    // Returns the kind of the n-th slot from the top; no value if that slot is an ordinary value.
    std::optional<Kind> top(int n = 1) const { return kind_at(depth - n); }
    // Returns how many of the top `n` slots do not exist in the rewritten code.
    int gone_in_top(int n) const;
    void push(std::optional<Kind> kind = std::nullopt);
    // Returns the depth of the stack in the rewritten code.
    int kept() const;
  };

  // The following functions are defined in block_stack.cpp.
  void walk_all();
  void walk(int at, State state);
  void branch(int to, State state) { todo_.push_back({to, std::move(state)}); }
  bool step(State& state);
  void with_cleanup(State& state, Op op);
  bool ordinary(State& state, const Instruction& it);
  void copy(State& state);
  void rotate(State& state);
  void setup(State& state, bool with, bool async);
  bool is_bare(const State& state, int target) const;
  void pop_except(State& state);
  bool end_handler(State& state);
  // Returns the replacement of the current instruction.
  Instruction& out() { return unwound_.code[std::size_t(at_)]; }
  // Turns the current instruction into a NOP.
  void clear() { out().op = Op::nop_, out().arg = out().aux = 0, out().target = -1; }
  // Turns the current instruction into `op`.
  void become(Op op, int arg = 0) { clear(), out().op = op, out().arg = arg; }
  // Adds an instruction behind the replacement of the current one.
  void add(Op op, int arg = 0);
  void pop(State& state, int n);
  const Unwound::Block& block_of(const State& state, Unwound::Block::Kind kind) const;

  // The following functions are defined in normal_finally.cpp.
  bool begin_finally(State& state);
  void leave_body(int start, State state);
  void pop_finally(State& state);
  void rotate_out(State& state, bool value, int n);
  void with_handler(const State& below, int handler);
  InstructionIndex statement_end(int target) const;
  bool starts_return() const;
  void end_statement(int target);

  const CodeObject& code_object_;
  const Version version_;
  Unwound unwound_;
  // `targets_` is true for instructions that control may reach other than by falling through. `called_` is true for
  // starts of finally clauses that CALL_FINALLY or BEGIN_FINALLY of 3.8 enters.
  Table<bool> targets_, called_;
  // The current instruction.
  int at_ = 0;
  // The instructions from which paths are still to be followed, each with the state in front of the instruction.
  Table<std::pair<int, State>> todo_;
  std::unordered_map<int, State> states_;  // maps a jump target to the state in front of it
  // For 3.8: maps the start of a finally clause to its END_FINALLY.
  std::unordered_map<int, int> ends_;
  // For 3.8: maps the start of a finally clause to the paths into it that wait until the walk reaches its END_FINALLY.
  std::unordered_map<int, Table<std::pair<int, State>>> waiting_;
  std::unordered_set<int> behind_;  // the instructions that follow try statements of 3.8
  std::unordered_set<int> else_clauses_;  // the instructions of `behind_` that start an else clause
  std::unordered_map<int, int> statement_ends_;  // maps an END_FINALLY to the end of its try statement
  // The END_FINALLY instructions that raise the exception again, each with the state in which the code behind it
  // starts.
  Table<std::pair<int, State>> dead_ends_;
};

}  // namespace depyf
