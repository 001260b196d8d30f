// Follows every path through code of CPython 3.8 to 3.10, and keeps track of the block stack and of the stack slots
// that hold parts of an exception. block_stack.h lists the replacement of each instruction.
#include "flow/block_stack.h"

#include <algorithm>

#include "decode/op.h"
#include "decode/op_info.h"
#include "dialect/dialect.h"
#include "flow/unwinder.h"

namespace depyf {

namespace {
// CPython itself allows 20 nested blocks (CO_MAXBLOCKS).
constexpr int nesting_max = 100;
}  // namespace

Unwinder::Unwinder(const DecodedCode& decoded)
    : code_object_(*decoded.code),
      version_(decoded.version),
      unwound_(decoded.instructions),
      targets_(unwound_.old.size() + 1),
      called_(unwound_.old.size() + 1) {
  for (std::size_t at = 0; at < unwound_.old.size(); ++at) {
    if (unwound_.old[at].target < 0) continue;
    targets_[std::size_t(unwound_.old[at].target)] = true;
    if (unwound_.old[at].op == Op::call_finally_) called_[std::size_t(unwound_.old[at].target)] = true;
  }
  // In 3.8, the finally clause starts right behind BEGIN_FINALLY.
  for (std::size_t at = 0; at < unwound_.old.size(); ++at)
    if (unwound_.old[at].op == Op::begin_finally_) called_[at + 1] = true, targets_[at + 1] = true;
}

Unwound Unwinder::run() {
  todo_.push_back({0, State{}});
  walk_all();
  // The code behind an END_FINALLY that always raises may be unreachable, because the body and all handlers may return.
  // The compiler emits the unreachable code behind END_FINALLY all the same, so `walk_all` also visits this code. The
  // target of the `reraise` that replaces END_FINALLY records the index of the code behind END_FINALLY.
  for (std::size_t index = 0; index < dead_ends_.size(); ++index) {
    auto [at, state] = dead_ends_[index];
    if (at + 1 >= int(unwound_.old.size())) continue;
    // The `reraise` that replaces END_FINALLY gets the offset of the end of the try statement as `aux`, from which
    // later passes find the else clause of the try statement.
    if (auto end = statement_ends_.find(at); end != statement_ends_.end())
      unwound_.code[std::size_t(at)].aux =
          int(end->second < int(unwound_.old.size()) ? unwound_.old[std::size_t(end->second)].offset : 0);
    if (unwound_.seen[std::size_t(at) + 1]) {
      auto known = states_.find(at + 1);
      if (known != states_.end() && known->second == state) unwound_.code[std::size_t(at)].target = at + 1;
      continue;
    }
    unwound_.code[std::size_t(at)].target = at + 1;
    targets_[std::size_t(at) + 1] = true;
    branch(at + 1, std::move(state));
    walk_all();
  }
  // The end of an else clause is the target of the jumps in which the handlers end. The compiler emits the jumps of the
  // handlers even if they are dead code.
  std::unordered_set<int> else_ends;
  for (auto [at, end] : statement_ends_)
    if (else_clauses_.contains(at + 1)) behind_.insert(end), else_ends.insert(end);
  // A `behind_handlers` operation is placed in front of each instruction where control continues behind the handlers of
  // a try statement.
  for (int at : behind_)
    if (at < int(unwound_.old.size()) && unwound_.seen[std::size_t(at)])
      unwound_.behind_handlers[at] = (is_else_break(code_object_, unwound_.old, at) ? behind_else_break : 0) |
                                     (else_clauses_.contains(at) ? behind_else_start : 0) |
                                     (else_ends.contains(at) ? behind_else_end : 0);
  return std::move(unwound_);
}

void Unwinder::walk_all() {
  while (!todo_.empty()) {
    auto [at, state] = std::move(todo_.back());
    todo_.pop_back();
    walk(at, std::move(state));
  }
}

void Unwinder::walk(int at, State state) {
  for (; at >= 0; ++at) {
    if (at >= int(unwound_.old.size())) throw Stop{int(unwound_.old.size()) - 1, "control runs off the end"};
    // At a jump target, and at an instruction that the walk has visited before, all paths must arrive with equal
    // states.
    if (targets_[std::size_t(at)] || unwound_.seen[std::size_t(at)]) {
      auto [found, fresh] = states_.try_emplace(at, state);
      if (!fresh || unwound_.seen[std::size_t(at)]) {
        if (fresh || !(found->second == state)) throw Stop{at, "ways meet with different blocks"};
        return;
      }
    }
    unwound_.seen[std::size_t(at)] = true;
    unwound_.cover[std::size_t(at)] = state.block;
    at_ = at;
    if (!step(state)) return;
  }
}

void Unwinder::add(Op op, int arg) {
  Instruction made = unwound_.old[std::size_t(at_)];
  made.op = op, made.arg = arg, made.aux = 0, made.target = -1, made.size = 0;
  unwound_.after[at_].push_back(made);
}

std::optional<Unwinder::Kind> Unwinder::State::kind_at(int at) const {
  for (const Slot& slot : slots)
    if (slot.at == at) return slot.kind;
  return std::nullopt;
}

int Unwinder::State::gone_in_top(int n) const {
  return int(std::count_if(slots.begin(), slots.end(),
                           [&](const Slot& slot) { return slot.at >= depth - n && is_gone(slot.kind); }));
}

void Unwinder::pop(State& state, int n) {
  if (n > state.depth) throw Stop{at_, "the stack is not that deep"};
  state.depth -= n;
  std::erase_if(state.slots, [&](const Slot& slot) { return slot.at >= state.depth; });
}

void Unwinder::State::push(std::optional<Kind> kind) {
  if (kind) slots.push_back({depth, *kind});
  ++depth;
}

int Unwinder::State::kept() const {
  return depth - int(std::count_if(slots.begin(), slots.end(), [](const Slot& slot) { return is_gone(slot.kind); }));
}

const Unwound::Block& Unwinder::block_of(const State& state, Unwound::Block::Kind kind) const {
  if (state.block < 0 || unwound_.blocks[std::size_t(state.block)].kind != kind) throw Stop{at_, "no such block"};
  return unwound_.blocks[std::size_t(state.block)];
}

// Runs the current instruction on `state`. Returns true if control falls through to the next instruction.
bool Unwinder::step(State& state) {
  const Instruction& it = unwound_.old[std::size_t(at_)];
  const Op op = it.op;
  if (op == Op::setup_finally_) return setup(state, false, false), true;
  if (op == Op::setup_with_) return setup(state, true, false), true;
  if (op == Op::setup_async_with_) return setup(state, true, true), true;
  if (op == Op::pop_block_) {
    state.block = block_of(state, Unwound::Block::Kind::setup).parent;
    if (starts_return()) return become(Op::behind_handlers_, behind_return_start), true;
    return clear(), true;
  }
  if (op == Op::pop_except_) return pop_except(state), true;
  if (op == Op::reraise_ || op == Op::end_finally_) return end_handler(state);
  if (op == Op::begin_finally_) return begin_finally(state);
  if (op == Op::call_finally_) {
    // The normal end of `except T as e` contains BEGIN_FINALLY, so POP_EXCEPT; CALL_FINALLY belongs to a `return`,
    // `break` or `continue` that leaves the handler. If no POP_EXCEPT lies in front of CALL_FINALLY, a jump back behind
    // CALL_FINALLY is a `continue`, since the normal end of a try body contains BEGIN_FINALLY instead of CALL_FINALLY.
    if (at_ > 0 && unwound_.code[std::size_t(at_) - 1].op == Op::pop_except_)
      unwound_.code[std::size_t(at_) - 1].aux = 1;
    else if (const int next = at_ + 1; next < int(unwound_.old.size()) &&
                                       unwound_.old[std::size_t(next)].op == Op::jump_ &&
                                       unwound_.old[std::size_t(next)].target <= at_)
      return become(Op::behind_handlers_, behind_call_of_continue), true;
    return clear(), true;
  }
  if (op == Op::pop_finally_) return pop_finally(state), true;
  if (op == Op::with_cleanup_start_ || op == Op::with_cleanup_finish_) return with_cleanup(state, op), true;
  // END_ASYNC_FOR pops the iterator and the six values of the exception.
  if (op == Op::end_async_for_) {
    state.block = block_of(state, Unwound::Block::Kind::handler).parent;
    return pop(state, 7), true;
  }
  // CHECK_EXC_MATCH pops a class and, in the old code, a copy of the exception's type; in the rewritten code, the
  // exception itself lies below the class and is not popped.
  if (op == Op::check_exc_match_) {
    const bool is_copied = state.top(2) == Kind::placeholder && state.top(4) == Kind::value;
    if (!is_copied) throw Stop{at_, "a match of a value that is no exception"};
    pop(state, 2), state.push();
    return true;
  }
  if (op == Op::pop_top_) {
    if (is_gone(state.top())) clear();
    return pop(state, 1), true;
  }
  if (op == Op::copy_) return copy(state), true;
  if (op == Op::swap_ || op == Op::rotate_) return rotate(state), true;
  if (op != Op::load_const_) return ordinary(state, it);
  // In 3.8, LOAD_CONST None in front of SETUP_FINALLY gives the stack the same depth on the normal path and on the
  // exceptional path into a `finally` clause that contains `return`, `break` or `continue`. The LOAD_CONST None in
  // front of SETUP_FINALLY is removed from the rewritten code.
  const bool is_balance = dialect_of(version_).finally_subroutines && at_ + 1 < int(unwound_.old.size()) &&
                          unwound_.old[std::size_t(at_) + 1].op == Op::setup_finally_;
  if (is_balance) clear(), state.push(Kind::placeholder);
  else state.push();
  return true;
}

// Handles WITH_CLEANUP_START and WITH_CLEANUP_FINISH of 3.8 on the path without an exception: the call of the exit
// method becomes `with_exit`.
void Unwinder::with_cleanup(State& state, Op op) {
  const bool starts = op == Op::with_cleanup_start_;
  const bool is_in_order = starts ? state.top() == Kind::no_exception : state.top(2) == Kind::placeholder;
  if (!is_in_order) throw Stop{at_, "a with statement's end without its start"};
  pop(state, 2);
  if (starts) state.push(Kind::no_exception), state.push(Kind::placeholder), state.push();
  become(starts ? Op::with_exit_ : Op::pop_top_);
}

// Handles an instruction that does not change the block stack and pops no part of an exception. Returns true if control
// falls through to the next instruction.
bool Unwinder::ordinary(State& state, const Instruction& it) {
  auto effect_on = [&](State& after, bool jump) {
    StackEffect effect = stack_effect(it, version_, jump);
    if (after.gone_in_top(effect.pops) > 0) throw Stop{at_, "part of an exception is used as a value"};
    pop(after, effect.pops);
    after.depth += effect.pushes;
  };
  // The argument of an operation such as LIST_APPEND counts stack slots, some of which do not exist in the rewritten
  // code.
  if (adds_to_display(it.op)) out().arg -= state.gone_in_top(it.arg);
  if (it.target >= 0) {
    State jumping = state;
    effect_on(jumping, true);
    branch(it.target, std::move(jumping));
  }
  if (it.op == Op::jump_ || it.op == Op::return_value_ || it.op == Op::raise_) return false;
  effect_on(state, false);
  return true;
}

// Handles COPY. The copy of a slot that does not exist in the rewritten code is a placeholder, which does not exist
// in the rewritten code either.
void Unwinder::copy(State& state) {
  int n = out().arg;
  if (n > state.depth) throw Stop{at_, "the stack is not that deep"};
  if (is_gone(state.top(n))) {
    clear();
    return state.push(Kind::placeholder);
  }
  out().arg -= state.gone_in_top(n);
  state.push();
}

// Handles ROT_TWO, ROT_THREE, ROT_FOUR and ROT_N. The decoder translates ROT_TWO to SWAP 2, and no other SWAP occurs up
// to 3.10.
void Unwinder::rotate(State& state) {
  int n = out().arg;
  if (n > state.depth) throw Stop{at_, "the stack is not that deep"};
  std::optional<Kind> moved = state.top();
  int left = n - state.gone_in_top(n);
  if (is_gone(moved) || left < 2) clear();
  else if (left == 2) become(Op::swap_, 2);
  else out().arg = left;
  std::erase_if(state.slots, [&](const Slot& slot) { return slot.at == state.depth - 1; });
  for (Slot& slot : state.slots) slot.at += slot.at >= state.depth - n;
  if (moved) state.slots.push_back({state.depth - n, *moved});
  std::sort(state.slots.begin(), state.slots.end(), [](const Slot& a, const Slot& b) { return a.at < b.at; });
}

// Handles the SETUP instructions: pushes a block, and adds the handler of the block to `todo_`. For a with statement of
// 3.8, the code behind the handler is added instead of the handler.
void Unwinder::setup(State& state, bool with, bool async) {
  const int target = unwound_.old[std::size_t(at_)].target;
  if (with && !async) {
    if (is_gone(state.top())) throw Stop{at_, "part of an exception is used as a value"};
    pop(state, 1), state.push(), state.push();
    become(Op::before_with_);
  } else {
    clear();
  }
  // The handler starts with the operand stack behind the SETUP instruction, without the result of __enter__, and with
  // the six values of an exception on top.
  State below = state;
  if (with) pop(below, 1);
  Unwound::Block made;
  made.parent = state.block, made.target = target, made.with = with;
  made.level = below.depth, made.kept = below.kept();
  made.nesting = state.block < 0 ? 1 : unwound_.blocks[std::size_t(state.block)].nesting + 1;
  made.bare = !with && is_bare(state, target);
  made.called = called_[std::size_t(target)];
  if (made.nesting > nesting_max) throw Stop{at_, "blocks nested too deeply"};
  auto [known, fresh] = unwound_.handler_of.try_emplace(target, int(unwound_.blocks.size()) + 1);
  if (!fresh) throw Stop{at_, "a handler of two blocks"};
  state.block = int(unwound_.blocks.size());
  unwound_.blocks.push_back(made);
  made.kind = Unwound::Block::Kind::handler;
  unwound_.blocks.push_back(made);
  // CPython emits a handler even for an empty try body, so a `protected_` operation is added as the instruction that
  // the exception range covers.
  Op next = at_ + 1 < int(unwound_.old.size()) ? unwound_.old[std::size_t(at_) + 1].op : Op::nop_;
  if (next == Op::pop_block_ || next == Op::nop_ || next == Op::jump_) {
    add(Op::protected_);
    unwound_.protected_after.insert({at_, state.block});
  }
  if (unwound_.old[std::size_t(target)].op == Op::with_cleanup_start_) return with_handler(below, known->second);
  below.block = known->second;
  // The six values that a handler starts with are, from the bottom, three values of the exception that was handled
  // before, and three values of the raised exception. In the handler of a with statement, 3.11 also pushes the offset
  // of the instruction that raised (`lasti`) below the exception.
  for (Kind kind : {Kind::previous_rest, Kind::previous_rest, Kind::previous}) below.push(kind);
  if (with) below.slots[below.slots.size() - 3].kind = Kind::lasti;
  for (Kind kind : {Kind::traceback, Kind::value, Kind::type}) below.push(kind);
  branch(target, std::move(below));
}

// True if the compiler made the handler at `target` without a try or with statement in the source. A handler without a
// statement of its own is either the end of `except T as e` or the exhaustion of `async for`. For `except T as e`, the
// compiler emits:
//
//  STORE e; POP_TOP; SETUP_FINALLY h; ...; h: LOAD_CONST None; STORE e; DELETE e; RERAISE or END_FINALLY.
//
// For `async for`, the compiler emits SETUP_FINALLY h; GET_ANEXT; ...; h: END_ASYNC_FOR.
bool Unwinder::is_bare(const State& state, int target) const {
  auto op = [&](int at) {
    return at >= 0 && at < int(unwound_.old.size()) ? unwound_.old[std::size_t(at)].op : Op::unknown_;
  };
  if (op(target) == Op::end_async_for_) return true;
  if (state.block < 0 || unwound_.blocks[std::size_t(state.block)].kind != Unwound::Block::Kind::handler) return false;
  if (op(at_ - 1) != Op::pop_top_ || !is_store_name(op(at_ - 2)) || op(target + 1) != op(at_ - 2)) return false;
  return op(target) == Op::load_const_ && op(target + 2) == delete_of(op(at_ - 2)) &&
         (op(target + 3) == Op::reraise_ || op(target + 3) == Op::end_finally_) &&
         unwound_.old[std::size_t(at_) - 2].arg == unwound_.old[std::size_t(target) + 1].arg &&
         state.depth == unwound_.blocks[std::size_t(state.block)].level + 3;
}

void Unwinder::pop_except(State& state) {
  const Unwound::Block& block = block_of(state, Unwound::Block::Kind::handler);
  if (state.top() != Kind::previous) throw Stop{at_, "no exception to leave"};
  pop(state, 3);
  state.block = block.parent;
  if (starts_return() && !block.with) {
    become(Op::behind_handlers_, behind_return_start), add(Op::pop_except_);
    unwound_.left_after.insert({at_, state.block});
    return;
  }
  unwound_.cover[std::size_t(at_)] = state.block;
  // POP_EXCEPT; JUMP_FORWARD occurs only at the end of an except clause, since `break` and `return` compile to other
  // instructions. The JUMP_FORWARD behind POP_EXCEPT leads to the code behind the try statement.
  if (dialect_of(version_).finally_subroutines && at_ + 1 < int(unwound_.old.size()) &&
      is_jump_forward(code_object_, unwound_.old[std::size_t(at_) + 1]))
    behind_.insert(unwound_.old[std::size_t(at_) + 1].target);
  // In the handler of a with statement, POP_TOP removes the offset of the instruction that raised, which 3.11 pushes
  // below the exception.
  if (block.with) add(Op::pop_top_);
}

// Handles RERAISE, and END_FINALLY with an exception or with the NULL of BEGIN_FINALLY (no exception) on top of the
// stack. Returns true if control falls through.
bool Unwinder::end_handler(State& state) {
  if (state.top() == Kind::no_exception) {
    pop(state, 1);
    clear();
    return true;
  }
  const Unwound::Block& block = block_of(state, Unwound::Block::Kind::handler);
  if (state.top() != Kind::type) throw Stop{at_, "no exception to raise again"};
  // In 3.8 a path that entered the finally clause without an exception continues behind END_FINALLY.
  bool falls = unwound_.old[std::size_t(at_)].op == Op::end_finally_ && block.called;
  if (unwound_.old[std::size_t(at_)].op == Op::end_finally_ && !block.called && !block.bare)
    end_statement(block.target);
  become(Op::reraise_, block.with ? 2 : block.bare ? 1 : 0);
  if (unwound_.old[std::size_t(at_)].op == Op::end_finally_ && !block.with && !block.bare) {
    State after = state;
    after.block = block.parent;
    pop(after, 6);
    dead_ends_.push_back({at_, std::move(after)});
  }
  if (!falls) return false;
  // Continues the paths that reached BEGIN_FINALLY before the END_FINALLY of its finally clause was known.
  auto [end, fresh] = ends_.try_emplace(block.target, at_);
  if (!fresh) throw Stop{at_, "a finally clause that ends twice"};
  for (auto& [start, waiting] : waiting_[block.target]) leave_body(start, std::move(waiting));
  return false;
}

Result<bool> replace_block_stack(DecodedCode& decoded) {
  if (dialect_of(decoded.version).exception_table) return true;
  bool any = std::any_of(decoded.instructions.begin(), decoded.instructions.end(), [](const Instruction& it) {
    return it.op == Op::setup_finally_ || it.op == Op::setup_with_ || it.op == Op::setup_async_with_;
  });
  if (!any) return true;
  try {
    write_unwound(Unwinder(decoded).run(), decoded);
  } catch (const Unwinder::Stop& stop) {
    return Error{stop.what, decoded.instructions[std::size_t(stop.at)].offset};
  }
  return true;
}

}  // namespace depyf
