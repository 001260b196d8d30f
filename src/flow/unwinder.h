// The walk behind block_stack.h, over the block stack of CPython 3.8 to 3.10, and what it finds.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "decode/decode.h"
#include "decode/op.h"

namespace depyf {

// What stands for each instruction, and which block protects it.
struct Unwound {
  struct Block {
    enum class Kind { setup, handler };
    Kind kind = Kind::setup;
    int parent = -1;  // -1: none
    int target = -1;  // where its handler starts
    int level = 0;  // depth of the stack that the handler is entered with, the exception not counted
    int kept = 0;  // the same without what is gone
    int nesting = 0;
    bool with = false;
    bool bare = false;  // its handler is no block of its own: the end of `except as e`, END_ASYNC_FOR
    bool called = false;  // 3.8: the ways out call it
  };
  struct WithHandler {  // 3.8
    int handler, await_begin, await_end;
  };

  explicit Unwound(const std::vector<Instruction>& instructions)
      : old(instructions), code(old), seen(old.size()), cover(old.size(), -1) {}

  std::vector<Instruction> old;
  std::vector<Instruction> code;  // what stands for each; targets are indices of old ones
  std::vector<bool> seen;
  std::vector<int> cover;  // block that protects it
  std::vector<Block> blocks;
  std::unordered_map<int, int> handler_of;  // by where it starts: block
  std::unordered_map<int, std::vector<Instruction>> after;  // more that stands for one
  std::unordered_map<int, int> protected_after, left_after;  // block in which part of `after` lies
  std::unordered_map<int, int>
      behind_handlers;  // 3.8: what follows a try statement, with the argument of the operation
  std::unordered_map<int, WithHandler> with_handlers;  // by where it is put
};

// Puts new instructions and ranges into `decoded`.
void write_unwound(const Unwound& unwound, DecodedCode& decoded);

class Unwinder {
 public:
  struct Stop {
    int at;
    const char* what;
  };

  explicit Unwinder(const DecodedCode& decoded);
  Unwound run();  // throws Stop

 private:
  // A slot of the stack that is no ordinary value. To 3.10 a handler starts with six of them: what was handled before and
  // the exception, as traceback, value and type each. One of each three stays, the others are gone from the result.
  enum class Kind { traceback, value, type, previous, previous_rest, lasti, placeholder, no_exception };
  static bool is_gone(Kind kind) { return kind != Kind::value && kind != Kind::previous && kind != Kind::lasti; }
  struct Slot {
    int at;  // from the bottom
    Kind kind;
    bool operator==(const Slot&) const = default;
  };
  static bool is_gone(std::optional<Kind> kind) { return kind && is_gone(*kind); }
  // The stack in front of an instruction, and the block that protects it.
  struct State {
    int block = -1;
    int depth = 0;
    std::vector<Slot> slots;
    bool operator==(const State&) const = default;

    std::optional<Kind> kind_at(int at) const;
    std::optional<Kind> top(int n = 1) const { return kind_at(depth - n); }
    int gone_in_top(int n) const;
    void push(std::optional<Kind> kind = std::nullopt);
    int kept() const;  // its depth without what is gone
  };

  // block_stack.cpp
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
  // what stands for the instruction at work
  Instruction& out() { return unwound_.code[std::size_t(at_)]; }
  void clear() { out().op = Op::nop_, out().arg = out().aux = 0, out().target = -1; }
  void become(Op op, int arg = 0) { clear(), out().op = op, out().arg = arg; }
  void add(Op op, int arg = 0);
  void pop(State& state, int n);
  const Unwound::Block& block_of(const State& state, Unwound::Block::Kind kind) const;

  // normal_finally.cpp
  bool begin_finally(State& state);
  void leave_body(int start, State state);
  void pop_finally(State& state);
  void rotate_out(State& state, bool value, int n);
  void with_handler(const State& below, int handler);
  int statement_end(int target) const;
  bool is_else_break(int at) const;
  bool is_jump_forward(int at) const;

  const CodeObject& code_object_;
  Unwound unwound_;
  std::vector<bool> targets_, called_;
  int at_ = 0;
  std::vector<std::pair<int, State>> todo_;
  std::unordered_map<int, State> states_;  // at jump targets
  std::unordered_map<int, int> ends_;  // of finally clauses of 3.8, by where they start
  std::unordered_map<int, std::vector<std::pair<int, State>>> waiting_;  // ways into those whose end is not known yet
  std::unordered_set<int> behind_;  // what follows a try statement of 3.8
  std::unordered_set<int> else_clauses_;  // of those: where one starts
  std::unordered_map<int, int> statement_ends_;  // by END_FINALLY: where its try statement ends
  std::vector<std::pair<int, State>> dead_ends_;  // END_FINALLY that raises, with the state behind it
};

}  // namespace depyf
