// 3.8: normal flow runs through handlers of finally and with too, and END_FINALLY ends those of except.
//
//   BEGIN_FINALLY; h: <finally>; END_FINALLY                the body is left by a jump behind it
//   POP_FINALLY                                             the exception is dropped, where there may be one
//   BEGIN_FINALLY; h: WITH_CLEANUP_START; [await;] WITH_CLEANUP_FINISH; END_FINALLY
//                                                           with_exit where nothing was raised, and a handler beside it
//   POP_EXCEPT; JUMP_FORWARD n; END_FINALLY; <else>; n:     n is where the try statement ends
#include <algorithm>

#include "decode/op.h"
#include "depyf/code_object.h"
#include "flow/unwinder.h"

namespace depyf {

// POP_EXCEPT; JUMP_FORWARD, which each handler ends with and which may be dead: where the handlers that start at `target`
// and end here lead to, which is over an else clause; -1: unknown. A jump to a jump is an absolute one, but nothing else
// stands right before the end.
int Unwinder::statement_end(int target) const {
  const Instruction& last = unwound_.old[std::size_t(at_) - 1];
  int found = -1;
  if (at_ > target + 1 && last.op == Op::jump_ && last.target > at_ &&
      unwound_.old[std::size_t(at_) - 2].op == Op::pop_except_) {
    const Instruction& next = unwound_.old[std::size_t(at_) + (at_ + 1 < int(unwound_.old.size()))];
    found = next.op == Op::jump_ && next.target == last.target ? at_ + 1 : last.target;
  }
  for (int at = target + 1; at < at_; ++at)
    if (unwound_.old[std::size_t(at) - 1].op == Op::pop_except_ && is_jump_forward(at) &&
        unwound_.old[std::size_t(at)].target > at_)
      found = std::max(found, unwound_.old[std::size_t(at)].target);
  return found;
}

// END_FINALLY; JUMP_ABSOLUTE out of the loop around
bool Unwinder::is_else_break(int at) const {
  return at > 0 && unwound_.old[std::size_t(at) - 1].op == Op::end_finally_ &&
         unwound_.old[std::size_t(at)].op == Op::jump_ && unwound_.old[std::size_t(at)].target > at &&
         !is_jump_forward(at);
}

bool Unwinder::is_jump_forward(int at) const {
  constexpr std::uint8_t jump_forward = 110;
  const Instruction& it = unwound_.old[std::size_t(at)];
  std::size_t byte = std::size_t(it.offset) + it.size - 2;  // behind EXTENDED_ARG
  return it.op == Op::jump_ && byte < code_object_.bytecode.size() && code_object_.bytecode[byte] == jump_forward;
}

bool Unwinder::begin_finally(State& state) {
  const int next = at_ + 1;
  if (next >= int(unwound_.old.size())) throw Stop{at_, "control runs off the end"};
  if (unwound_.old[std::size_t(next)].op == Op::with_cleanup_start_) {
    clear();
    state.push(Kind::no_exception);
    return true;
  }
  if (ends_.contains(next)) leave_body(at_, state);
  else become(Op::unreachable_), waiting_[next].push_back({at_, state});
  return false;
}

// The body of a `try` is left the normal way at `start`: control goes on behind the finally clause.
void Unwinder::leave_body(int start, State state) {
  Instruction& jump = unwound_.code[std::size_t(start)];
  jump.op = Op::jump_, jump.arg = jump.aux = 0;
  jump.target = ends_[start + 1] + 1;
  branch(jump.target, std::move(state));
  targets_[std::size_t(jump.target)] = true;
  behind_.insert(jump.target);
}

void Unwinder::pop_finally(State& state) {
  const bool value = unwound_.old[std::size_t(at_)].arg != 0;
  if (state.top(1 + value) == Kind::no_exception) {
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

// Removes `n` slots below the top value, where there is one.
void Unwinder::rotate_out(State& state, bool value, int n) {
  pop(state, n + value);
  if (value) state.push();
}

// h: WITH_CLEANUP_START; [await;] WITH_CLEANUP_FINISH; END_FINALLY serves both ways. As a handler it is written anew:
// push_exc_info; with_except_start; [await;] pop_jump_if_true s; reraise; s: pop_top; pop_except; pop_top; pop_top
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
