// Handles the finally clauses and with statements of 3.8, through which control also runs if no exception was raised,
// and END_FINALLY behind except clauses. Code of 3.8 is replaced or understood as follows.
//
//   In BEGIN_FINALLY; h: <finally>; END_FINALLY, the BEGIN_FINALLY becomes a jump over the handler h.
//   POP_FINALLY becomes [swap 2;] pop_top; [swap 2;] pop_except on a path with an exception, and a nop on a path
//   without one.
//   BEGIN_FINALLY; h: WITH_CLEANUP_START; [await;] WITH_CLEANUP_FINISH; END_FINALLY becomes with_exit for the normal
//   path, and a handler for the path with an exception.
//   In POP_EXCEPT; JUMP_FORWARD n; END_FINALLY; <else>; n: <next statement>, the try statement ends at n.
#include <algorithm>

#include "decode/op.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "flow/unwinder.h"

namespace depyf {

namespace {

// True if POP_EXCEPT; JUMP, the end of a handler that starts at `target`, lies right in front of the END_FINALLY at
// `at`.
bool ends_in_handler_jump(const Instructions& code, int at, int target) {
  return at > target + 1 && code[at - 1].op == Op::jump_ && code[at - 2].op == Op::pop_except_;
}

// True if the try statement whose handlers start at `target` and end at the END_FINALLY at `at` has an else clause
// whose end is unknown. At the end of a loop's body, the optimiser replaces the jump to the end of the try statement by
// a jump back to the loop:
//
//  POP_EXCEPT; JUMP_ABSOLUTE back; END_FINALLY; <else>; JUMP_ABSOLUTE back.
//
// If the try statement has no else clause, the jump back to the loop directly follows END_FINALLY.
bool has_else(const Instructions& code, int at, int target) {
  if (!ends_in_handler_jump(code, at, target) || at + 1 >= int(code.size())) return false;
  const Instruction &last = code[at - 1], &next = code[at + 1];
  return last.target < at && (next.op != Op::jump_ || next.target != last.target);
}

}  // namespace

// Records the end of the try statement whose handlers start at `target` and end at the current END_FINALLY, and whether
// the code behind the handlers is an else clause.
void Unwinder::end_statement(int target) {
  behind_.insert(at_ + 1);
  const int end = statement_end(target);
  if (end >= 0) statement_ends_[at_] = end;
  if (end > at_ + 1 || (end < 0 && has_else(unwound_.old, at_, target))) else_clauses_.insert(at_ + 1);
}

// Returns the end of the try statement whose handlers start at `target` and end at the current END_FINALLY, behind any
// else clause; -1 if it is unknown. Each handler ends in POP_EXCEPT; JUMP_FORWARD to the end of the try statement, even
// if this jump is dead code. The peephole optimiser replaces a jump to a jump by JUMP_ABSOLUTE, so the jump right in
// front of END_FINALLY counts with either opcode.
InstructionIndex Unwinder::statement_end(int target) const {
  const Instruction& last = unwound_.old[std::size_t(at_) - 1];
  InstructionIndex found;
  const bool ends_in_jump = ends_in_handler_jump(unwound_.old, at_, target);
  if (ends_in_jump && last.target > at_) {
    const Instruction& next = unwound_.old[std::size_t(at_) + (at_ + 1 < int(unwound_.old.size()))];
    found = next.op == Op::jump_ && next.target == last.target ? InstructionIndex(at_ + 1) : last.target;
  }
  // A try statement at the end of a loop's body, with `break` as its else clause, compiles to POP_EXCEPT; JUMP back;
  // END_FINALLY; JUMP out; JUMP back.
  if (ends_in_jump && last.target < at_ && at_ + 2 < int(unwound_.old.size()) &&
      is_else_break(code_object_, unwound_.old, at_ + 1)) {
    const Instruction& back = unwound_.old[std::size_t(at_) + 2];
    if (back.op == Op::jump_ && back.target == last.target) found = InstructionIndex(at_ + 2);
  }
  for (int at = target + 1; at < at_; ++at)
    if (unwound_.old[std::size_t(at) - 1].op == Op::pop_except_ &&
        is_jump_forward(code_object_, unwound_.old[std::size_t(at)]) && unwound_.old[std::size_t(at)].target > at_)
      found = std::max<int>(found, unwound_.old[std::size_t(at)].target);
  return found;
}

// True if jumps lead to the current instruction, and the code from it on is a `return` of a constant that leaves try or
// with statements. For example, the `return` in `except A as e: if a: b; return` is:
//
//  POP_BLOCK; POP_EXCEPT; CALL_FINALLY; LOAD_CONST; RETURN_VALUE.
bool Unwinder::starts_return() const {
  constexpr OpSet leaving{Op::pop_block_,          Op::pop_except_,          Op::call_finally_, Op::begin_finally_,
                          Op::with_cleanup_start_, Op::with_cleanup_finish_, Op::pop_finally_,  Op::pop_top_,
                          Op::get_awaitable_,      Op::yield_from_,          Op::nop_};
  const auto& code = unwound_.old;
  const int count = int(code.size());
  if (!targets_[std::size_t(at_)] || !dialect_of(version_).finally_subroutines) return false;
  auto op = [&](int at) { return at < count ? code[std::size_t(at)].op : Op::unknown_; };
  int at = at_;
  // The LOAD_CONST in front of YIELD_FROM belongs to the end of `async with`.
  while (leaving.has(op(at)) || (op(at) == Op::load_const_ && op(at + 1) == Op::yield_from_)) ++at;
  return op(at) == Op::load_const_ && op(at + 1) == Op::return_value_;
}

bool is_else_break(const CodeObject& code_object, const Instructions& code, int at) {
  if (at <= 0 || code[at - 1].op != Op::end_finally_) return false;
  const bool pops_iterator = code[at].op == Op::pop_top_ && at + 1 < int(code.size());
  const Instruction& jump = code[at + pops_iterator];
  return jump.op == Op::jump_ && (pops_iterator || jump.target > at) && !is_jump_forward(code_object, jump);
}

bool is_jump_forward(const CodeObject& code, const Instruction& it) {
  constexpr std::uint8_t jump_forward = 110;
  // The opcode of an instruction follows its EXTENDED_ARGs.
  const std::size_t byte = std::size_t(it.offset) + it.size - 2;
  return it.op == Op::jump_ && byte < code.bytecode.size() && code.bytecode[byte] == jump_forward;
}

// Handles BEGIN_FINALLY, which pushes NULL (no exception) and enters the finally clause or the end of `with`.
bool Unwinder::begin_finally(State& state) {
  const int next = at_ + 1;
  if (next >= int(unwound_.old.size())) throw Stop{at_, "control runs off the end"};
  if (unwound_.old[std::size_t(next)].op == Op::with_cleanup_start_) {
    clear();
    state.push(Kind::no_exception);
    return true;
  }
  if (ends_.contains(next)) leave_body(at_, state);
  // If the walk over the code has not reached the END_FINALLY of the finally clause yet, the path is added to
  // `waiting_`.
  else become(Op::unreachable_), waiting_[next].push_back({at_, state});
  return false;
}

// Handles the normal exit of a try body: the BEGIN_FINALLY at `start` becomes a jump behind the finally clause.
void Unwinder::leave_body(int start, State state) {
  Instruction& jump = unwound_.code[std::size_t(start)];
  jump.op = Op::jump_, jump.arg = jump.aux = 0;
  jump.target = ends_[start + 1] + 1;
  branch(jump.target, std::move(state));
  targets_[std::size_t(jump.target)] = true;
  behind_.insert(jump.target);
}

// Handles POP_FINALLY, which drops the exception where `return`, `break` or `continue` leaves a finally clause. If the
// argument of POP_FINALLY is nonzero, a value to return lies on top of the exception.
void Unwinder::pop_finally(State& state) {
  const bool value = unwound_.old[std::size_t(at_)].arg != 0;
  if (state.top(1 + value) == Kind::no_exception) {
    // A POP_FINALLY behind WITH_CLEANUP_FINISH belongs to a `return`, `break` or `continue` that leaves the with
    // statement, because the normal end of the statement has END_FINALLY. The instruction in front of the POP_FINALLY
    // gets aux 1 to record that the with statement is left.
    Instruction& before = unwound_.code[std::size_t(std::max(at_ - 1, 0))];
    if (unwound_.old[std::size_t(std::max(at_ - 1, 0))].op == Op::with_cleanup_finish_) before.aux = 1;
    clear();
    return rotate_out(state, value, 1);
  }
  const Unwound::Block& block = block_of(state, Unwound::Block::Kind::handler);
  if (state.top(1 + value) != Kind::type) throw Stop{at_, "no exception to drop"};
  state.block = block.parent;
  rotate_out(state, value, 6);
  if (value) become(Op::swap_, 2), add(Op::pop_top_), add(Op::swap_, 2);
  else become(Op::pop_top_);
  add(Op::pop_except_);
  unwound_.left_after.insert({at_, block.parent});
}

// Removes the top `n` slots of the stack or, if `value` is true, the `n` slots below the top value.
void Unwinder::rotate_out(State& state, bool value, int n) {
  pop(state, n + value);
  if (value) state.push();
}

// Makes an exception handler of the end of a with statement. In 3.8, the following code runs both with and without an
// exception:
//
//  h: WITH_CLEANUP_START; [await;] WITH_CLEANUP_FINISH; END_FINALLY.
//
// For the path without an exception, the code from WITH_CLEANUP_START to END_FINALLY remains at its place. A new
// handler for exceptions is written behind the END_FINALLY of the with statement:
//
//  push_exc_info; with_except_start; [await;] pop_jump_if_true s; reraise; s: pop_top; pop_except; pop_top; pop_top.
void Unwinder::with_handler(const State& below, int handler) {
  auto at = std::size_t(unwound_.blocks[std::size_t(handler)].target) + 1;
  Unwound::WithHandler made{handler, int(at), int(at)};
  if (at < unwound_.old.size() && unwound_.old[at].op == Op::get_awaitable_) at += 3;
  made.await_end = int(at);
  if (at + 1 >= unwound_.old.size() || unwound_.old[at].op != Op::with_cleanup_finish_ ||
      unwound_.old[at + 1].op != Op::end_finally_ ||
      (made.await_end > made.await_begin && unwound_.old[at - 1].op != Op::yield_from_))
    throw Stop{at_, "a with statement's end that no compiler makes"};
  targets_[at + 2] = true;
  unwound_.with_handlers[int(at) + 1] = made;
  State behind = below;
  pop(behind, 1);
  behind.block = unwound_.blocks[std::size_t(handler)].parent;
  branch(int(at) + 2, std::move(behind));
}

}  // namespace depyf
