#include "flow/block_stack.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "decode/decode.h"

namespace depyf {
namespace {

constexpr int nesting_max = 100;  // CPython's own bound is 20

// A slot of the stack that is no ordinary value. To 3.10 a handler starts with six of them: what was handled before and
// the exception, as traceback, value and type each. One of each three stays, the others are gone from the result.
enum class Kind { traceback, value, type, previous, previous_rest, lasti, placeholder, no_exception };

bool is_gone(Kind kind) { return kind != Kind::value && kind != Kind::previous && kind != Kind::lasti; }

struct Slot {
  int at;  // from the bottom
  Kind kind;
  bool operator==(const Slot&) const = default;
};

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

struct State {
  int block = -1;
  int depth = 0;
  std::vector<Slot> slots;
  bool operator==(const State&) const = default;
};

struct Stop {
  int at;
  const char* what;
};

class Unwinder {
 public:
  explicit Unwinder(DecodedCode& decoded)
      : decoded_(decoded),
        version_(decoded.code->version),
        old_(decoded.instructions),
        code_(old_),
        targets_(old_.size() + 1),
        called_(old_.size() + 1),
        seen_(old_.size()),
        cover_(old_.size(), -1) {
    for (std::size_t at = 0; at < old_.size(); ++at) {
      if (old_[at].target < 0) continue;
      targets_[std::size_t(old_[at].target)] = true;
      if (old_[at].op == Op::call_finally_) called_[std::size_t(old_[at].target)] = true;
    }
    for (std::size_t at = 0; at < old_.size(); ++at)
      if (old_[at].op == Op::begin_finally_) called_[at + 1] = true, targets_[at + 1] = true;
  }

  void run() {
    todo_.push_back({0, State{}});
    walk_all();
    // What follows the end that never goes on may be reached from there alone.
    for (std::size_t index = 0; index < dead_ends_.size(); ++index) {
      auto [at, state] = dead_ends_[index];
      if (at + 1 >= int(old_.size())) continue;
      if (auto end = statement_ends_.find(at); end != statement_ends_.end())
        code_[std::size_t(at)].aux = int(end->second < int(old_.size()) ? old_[std::size_t(end->second)].offset : 0);
      if (seen_[std::size_t(at) + 1]) {
        auto known = states_.find(at + 1);
        if (known != states_.end() && known->second == state) code_[std::size_t(at)].target = at + 1;
        continue;
      }
      code_[std::size_t(at)].target = at + 1;
      targets_[std::size_t(at) + 1] = true;
      branch(at + 1, std::move(state));
      walk_all();
    }
    emit();
  }

 private:
  // ---- the walk: what each instruction does to blocks and slots, and what stands for it

  void walk_all() {
    while (!todo_.empty()) {
      auto [at, state] = std::move(todo_.back());
      todo_.pop_back();
      walk(at, std::move(state));
    }
  }

  void walk(int at, State state) {
    for (; at >= 0; ++at) {
      if (at >= int(old_.size())) throw Stop{int(old_.size()) - 1, "control runs off the end"};
      if (targets_[std::size_t(at)] || seen_[std::size_t(at)]) {
        auto [found, fresh] = states_.try_emplace(at, state);
        if (!fresh || seen_[std::size_t(at)]) {
          if (fresh || !(found->second == state)) throw Stop{at, "ways meet with different blocks"};
          return;
        }
      }
      seen_[std::size_t(at)] = true;
      cover_[std::size_t(at)] = state.block;
      at_ = at;
      if (!step(state)) return;
    }
  }

  void branch(int to, State state) { todo_.push_back({to, std::move(state)}); }

  Instruction& out() { return code_[std::size_t(at_)]; }
  void clear() { out().op = Op::nop_, out().arg = out().aux = 0, out().target = -1; }
  void add(Op op, int arg = 0) {
    Instruction made = old_[std::size_t(at_)];
    made.op = op, made.arg = arg, made.aux = 0, made.target = -1, made.size = 0;
    after_[at_].push_back(made);
  }
  void become(Op op, int arg = 0) {
    clear();
    out().op = op, out().arg = arg;
  }

  std::optional<Kind> kind_at(const State& state, int at) const {
    for (const Slot& slot : state.slots)
      if (slot.at == at) return slot.kind;
    return std::nullopt;
  }
  std::optional<Kind> top(const State& state, int n = 1) const { return kind_at(state, state.depth - n); }
  static bool gone(std::optional<Kind> kind) { return kind && is_gone(*kind); }
  int gone_in_top(const State& state, int n) const {
    return int(std::count_if(state.slots.begin(), state.slots.end(),
                             [&](const Slot& slot) { return slot.at >= state.depth - n && is_gone(slot.kind); }));
  }
  void pop(State& state, int n) {
    if (n > state.depth) throw Stop{at_, "the stack is not that deep"};
    state.depth -= n;
    std::erase_if(state.slots, [&](const Slot& slot) { return slot.at >= state.depth; });
  }
  void push(State& state, std::optional<Kind> kind = std::nullopt) {
    if (kind) state.slots.push_back({state.depth, *kind});
    ++state.depth;
  }
  int kept(const State& state) const {
    return state.depth - int(std::count_if(state.slots.begin(), state.slots.end(),
                                           [](const Slot& slot) { return is_gone(slot.kind); }));
  }
  const Block& block_of(const State& state, Block::Kind kind) const {
    if (state.block < 0 || blocks_[std::size_t(state.block)].kind != kind) throw Stop{at_, "no such block"};
    return blocks_[std::size_t(state.block)];
  }

  // Does control fall through to the next instruction, with `state`?
  bool step(State& state) {
    const Instruction& it = old_[std::size_t(at_)];
    switch (it.op) {
      case Op::setup_finally_: setup(state, false, false); return true;
      case Op::setup_with_: setup(state, true, false); return true;
      case Op::setup_async_with_: setup(state, true, true); return true;
      case Op::pop_block_:
        state.block = block_of(state, Block::Kind::setup).parent;
        clear();
        return true;
      case Op::pop_except_: pop_except(state); return true;
      case Op::reraise_:
      case Op::end_finally_: return end_handler(state);
      case Op::begin_finally_: return begin_finally(state);
      case Op::call_finally_: clear(); return true;
      case Op::pop_finally_: pop_finally(state); return true;
      case Op::with_cleanup_start_:
        if (top(state) != Kind::no_exception) throw Stop{at_, "a with statement's end without its start"};
        pop(state, 2);
        push(state, Kind::no_exception), push(state, Kind::placeholder), push(state);
        become(Op::with_exit_);
        return true;
      case Op::with_cleanup_finish_:
        if (top(state, 2) != Kind::placeholder) throw Stop{at_, "a with statement's end without its start"};
        pop(state, 2);
        become(Op::pop_top_);
        return true;
      case Op::end_async_for_:
        state.block = block_of(state, Block::Kind::handler).parent;
        pop(state, 7);
        return true;
      case Op::check_exc_match_: {
        bool copied = top(state, 2) == Kind::placeholder && top(state, 4) == Kind::value;
        if (!copied) throw Stop{at_, "a match of what is no exception"};
        pop(state, 2), push(state);
        return true;
      }
      case Op::pop_top_:
        if (gone(top(state))) clear();
        pop(state, 1);
        return true;
      case Op::copy_: copy(state); return true;
      case Op::swap_:
      case Op::rotate_: rotate(state); return true;
      case Op::load_const_:
        // 3.8 keeps the stack of `finally` with a jump in it balanced by a None below the statement.
        if (version_ == Version{3, 8} && at_ + 1 < int(old_.size()) &&
            old_[std::size_t(at_) + 1].op == Op::setup_finally_) {
          clear();
          push(state, Kind::placeholder);
          return true;
        }
        push(state);
        return true;
      default: return ordinary(state, it);
    }
  }

  bool ordinary(State& state, const Instruction& it) {
    auto effect_on = [&](State& after, bool jump) {
      StackEffect effect = stack_effect(it, version_, jump);
      if (gone_in_top(after, effect.pops) > 0) throw Stop{at_, "part of an exception is used as a value"};
      pop(after, effect.pops);
      after.depth += effect.pushes;
    };
    switch (it.op) {  // they look at a value below those that they take
      case Op::list_append_:
      case Op::set_add_:
      case Op::map_add_:
      case Op::list_extend_:
      case Op::set_update_:
      case Op::dict_update_:
      case Op::dict_merge_: out().arg -= gone_in_top(state, it.arg); break;
      default: break;
    }
    if (it.target >= 0) {
      State jumping = state;
      effect_on(jumping, true);
      branch(it.target, std::move(jumping));
    }
    if (it.op == Op::jump_ || it.op == Op::return_value_ || it.op == Op::raise_) return false;
    effect_on(state, false);
    return true;
  }

  void copy(State& state) {
    int n = out().arg;
    if (n > state.depth) throw Stop{at_, "the stack is not that deep"};
    if (gone(top(state, n))) {
      clear();
      return push(state, Kind::placeholder);
    }
    out().arg -= gone_in_top(state, n);
    push(state);
  }

  // SWAP 2 is ROTATE 2: to 3.10 there is no other.
  void rotate(State& state) {
    int n = out().arg;
    if (n > state.depth) throw Stop{at_, "the stack is not that deep"};
    std::optional<Kind> moved = top(state);
    int left = n - gone_in_top(state, n);
    if (gone(moved) || left < 2) clear();
    else if (left == 2) become(Op::swap_, 2);
    else out().arg = left;
    std::erase_if(state.slots, [&](const Slot& slot) { return slot.at == state.depth - 1; });
    for (Slot& slot : state.slots) slot.at += slot.at >= state.depth - n;
    if (moved) state.slots.push_back({state.depth - n, *moved});
    std::sort(state.slots.begin(), state.slots.end(), [](const Slot& a, const Slot& b) { return a.at < b.at; });
  }

  // ---- blocks

  void setup(State& state, bool with, bool async) {
    const int target = old_[std::size_t(at_)].target;
    if (with && !async) {
      if (gone(top(state))) throw Stop{at_, "part of an exception is used as a value"};
      pop(state, 1), push(state), push(state);
      become(Op::before_with_);
    } else {
      clear();
    }
    State below = state;
    if (with) pop(below, 1);
    Block made;
    made.parent = state.block, made.target = target, made.with = with;
    made.level = below.depth, made.kept = kept(below);
    made.nesting = state.block < 0 ? 1 : blocks_[std::size_t(state.block)].nesting + 1;
    made.bare = !with && is_bare(state, target);
    made.called = called_[std::size_t(target)];
    if (made.nesting > nesting_max) throw Stop{at_, "blocks nested too deeply"};
    auto [known, fresh] = handler_of_.try_emplace(target, int(blocks_.size()) + 1);
    if (!fresh) throw Stop{at_, "a handler of two blocks"};
    state.block = int(blocks_.size());
    blocks_.push_back(made);
    made.kind = Block::Kind::handler;
    blocks_.push_back(made);
    // An empty body is protected all the same.
    Op next = at_ + 1 < int(old_.size()) ? old_[std::size_t(at_) + 1].op : Op::nop_;
    if (next == Op::pop_block_ || next == Op::nop_ || next == Op::jump_) {
      add(Op::protected_);
      protected_after_.insert({at_, state.block});
    }
    if (old_[std::size_t(target)].op == Op::with_cleanup_start_) return with_handler(below, known->second);
    below.block = known->second;
    for (Kind kind : {Kind::previous_rest, Kind::previous_rest, Kind::previous}) push(below, kind);
    if (with) below.slots[below.slots.size() - 3].kind = Kind::lasti;
    for (Kind kind : {Kind::traceback, Kind::value, Kind::type}) push(below, kind);
    branch(target, std::move(below));
  }

  // STORE e; POP_TOP; SETUP_FINALLY h; ...; h: LOAD_CONST None; STORE e; DELETE e; RERAISE or END_FINALLY
  // SETUP_FINALLY h; GET_ANEXT; ...; h: END_ASYNC_FOR
  bool is_bare(const State& state, int target) const {
    auto op = [&](int at) { return at >= 0 && at < int(old_.size()) ? old_[std::size_t(at)].op : Op::unknown_; };
    if (op(target) == Op::end_async_for_) return true;
    if (state.block < 0 || blocks_[std::size_t(state.block)].kind != Block::Kind::handler) return false;
    if (op(at_ - 1) != Op::pop_top_ || !is_store_name(op(at_ - 2)) || op(target + 1) != op(at_ - 2)) return false;
    return op(target) == Op::load_const_ && op(target + 2) == delete_of(op(at_ - 2)) &&
           (op(target + 3) == Op::reraise_ || op(target + 3) == Op::end_finally_) &&
           old_[std::size_t(at_) - 2].arg == old_[std::size_t(target) + 1].arg &&
           state.depth == blocks_[std::size_t(state.block)].level + 3;
  }

  void pop_except(State& state) {
    const Block& block = block_of(state, Block::Kind::handler);
    if (top(state) != Kind::previous) throw Stop{at_, "no exception to leave"};
    pop(state, 3);
    state.block = block.parent;
    cover_[std::size_t(at_)] = state.block;
    // A handler's end jumps forward to what follows the statement; `break` and `return` never do.
    if (version_ == Version{3, 8} && at_ + 1 < int(old_.size()) && is_jump_forward(at_ + 1))
      behind_.insert(old_[std::size_t(at_) + 1].target);
    if (block.with) add(Op::pop_top_);  // the instruction that raised, which 3.11 keeps there
  }

  // RERAISE; END_FINALLY where an exception is handled
  bool end_handler(State& state) {
    if (top(state) == Kind::no_exception) {
      pop(state, 1);
      clear();
      return true;
    }
    const Block& block = block_of(state, Block::Kind::handler);
    if (top(state) != Kind::type) throw Stop{at_, "no exception to raise again"};
    bool falls = old_[std::size_t(at_)].op == Op::end_finally_ && block.called;
    // Behind the handlers of an except statement stands what follows it, or its else clause.
    if (old_[std::size_t(at_)].op == Op::end_finally_ && !block.called && !block.bare) {
      behind_.insert(at_ + 1);
      if (const int end = statement_end(block.target); end >= 0) {
        statement_ends_[at_] = end;
        if (end > at_ + 1) else_clauses_.insert(at_ + 1);
      }
    }
    become(Op::reraise_, block.with ? 2 : block.bare ? 1 : 0);
    if (old_[std::size_t(at_)].op == Op::end_finally_ && !block.with && !block.bare) {
      State after = state;
      after.block = block.parent;
      pop(after, 6);
      dead_ends_.push_back({at_, std::move(after)});
    }
    if (!falls) return false;
    auto [end, fresh] = ends_.try_emplace(block.target, at_);
    if (!fresh) throw Stop{at_, "a finally clause that ends twice"};
    for (auto& [start, waiting] : waiting_[block.target]) leave_body(start, std::move(waiting));
    return false;
  }

  // ---- 3.8

  // POP_EXCEPT; JUMP_FORWARD, which each handler ends with and which may be dead: where the handlers that start at `target`
  // and end here lead to, which is over an else clause; -1: unknown. A jump to a jump is an absolute one, but nothing else
  // stands right before the end.
  int statement_end(int target) const {
    const Instruction& last = old_[std::size_t(at_) - 1];
    int found = -1;
    if (at_ > target + 1 && last.op == Op::jump_ && last.target > at_ &&
        old_[std::size_t(at_) - 2].op == Op::pop_except_) {
      const Instruction& next = old_[std::size_t(at_) + (at_ + 1 < int(old_.size()))];
      found = next.op == Op::jump_ && next.target == last.target ? at_ + 1 : last.target;
    }
    for (int at = target + 1; at < at_; ++at)
      if (old_[std::size_t(at) - 1].op == Op::pop_except_ && is_jump_forward(at) && old_[std::size_t(at)].target > at_)
        found = std::max(found, old_[std::size_t(at)].target);
    return found;
  }

  // END_FINALLY; JUMP_ABSOLUTE out of the loop around
  bool is_else_break(int at) const {
    return at > 0 && old_[std::size_t(at) - 1].op == Op::end_finally_ && old_[std::size_t(at)].op == Op::jump_ &&
           old_[std::size_t(at)].target > at && !is_jump_forward(at);
  }

  bool is_jump_forward(int at) const {
    constexpr std::uint8_t jump_forward = 110;
    const Instruction& it = old_[std::size_t(at)];
    std::size_t byte = std::size_t(it.offset) + it.size - 2;  // behind EXTENDED_ARG
    return it.op == Op::jump_ && byte < decoded_.code->bytecode.size() && decoded_.code->bytecode[byte] == jump_forward;
  }

  bool begin_finally(State& state) {
    const int next = at_ + 1;
    if (next >= int(old_.size())) throw Stop{at_, "control runs off the end"};
    if (old_[std::size_t(next)].op == Op::with_cleanup_start_) {
      clear();
      push(state, Kind::no_exception);
      return true;
    }
    if (ends_.contains(next)) leave_body(at_, state);
    else become(Op::unreachable_), waiting_[next].push_back({at_, state});
    return false;
  }

  // The body of a `try` is left the normal way at `start`: control goes on behind the finally clause.
  void leave_body(int start, State state) {
    Instruction& jump = code_[std::size_t(start)];
    jump.op = Op::jump_, jump.arg = jump.aux = 0;
    jump.target = ends_[start + 1] + 1;
    branch(jump.target, std::move(state));
    targets_[std::size_t(jump.target)] = true;
    behind_.insert(jump.target);
  }

  void pop_finally(State& state) {
    const bool value = old_[std::size_t(at_)].arg != 0;
    if (top(state, 1 + value) == Kind::no_exception) {
      clear();
      return rotate_out(state, value, 1);
    }
    const Block& block = block_of(state, Block::Kind::handler);
    if (top(state, 1 + value) != Kind::type) throw Stop{at_, "no exception to drop"};
    state.block = block.parent;
    rotate_out(state, value, 6);
    if (value) become(Op::swap_, 2), add(Op::pop_top_), add(Op::swap_, 2);
    else become(Op::pop_top_);
    add(Op::pop_except_);
    left_after_.insert({at_, block.parent});
  }

  // Removes `n` slots below the top value, where there is one.
  void rotate_out(State& state, bool value, int n) {
    pop(state, n + value);
    if (value) push(state);
  }

  // h: WITH_CLEANUP_START; [await;] WITH_CLEANUP_FINISH; END_FINALLY serves both ways. As a handler it is written anew:
  // push_exc_info; with_except_start; [await;] pop_jump_if_true s; reraise; s: pop_top; pop_except; pop_top; pop_top
  void with_handler(const State& below, int handler) {
    auto at = std::size_t(blocks_[std::size_t(handler)].target) + 1;
    WithHandler made{handler, int(at), int(at)};
    if (at < old_.size() && old_[at].op == Op::get_awaitable_) at += 3;
    made.await_end = int(at);
    if (at + 1 >= old_.size() || old_[at].op != Op::with_cleanup_finish_ || old_[at + 1].op != Op::end_finally_ ||
        (made.await_end > made.await_begin && old_[at - 1].op != Op::yield_from_))
      throw Stop{at_, "a with statement's end that no compiler makes"};
    targets_[at + 2] = true;
    with_handlers_[int(at) + 1] = made;
    State behind = below;
    pop(behind, 1);
    behind.block = blocks_[std::size_t(handler)].parent;
    branch(int(at) + 2, std::move(behind));
  }

  // ---- the new instructions

  struct WithHandler {
    int handler, await_begin, await_end;
  };

  // Which block protects what lies in `block`: a bare handler is part of what is around.
  int protector(int block) const {
    while (block >= 0 && blocks_[std::size_t(block)].kind == Block::Kind::handler && blocks_[std::size_t(block)].bare)
      block = blocks_[std::size_t(block)].parent;
    return block;
  }

  void put(Instruction it, int block, bool translated) {
    result_.push_back(it);
    covers_.push_back(protector(block));
    translated_.push_back(translated);
  }

  void put_made(const Instruction& like, Op op, int block, int arg = 0, int target = -1) {
    Instruction made = like;
    made.op = op, made.arg = arg, made.aux = 0, made.target = target, made.size = 0;
    put(made, block, true);
  }

  void emit() {
    std::vector<int> where(old_.size() + 1);
    std::vector<int> starts(blocks_.size(), -1);  // of handlers, by block
    for (int at = 0; at < int(old_.size()); ++at) {
      where[std::size_t(at)] = int(result_.size());
      Instruction it = code_[std::size_t(at)];
      const bool seen = seen_[std::size_t(at)];
      if (!seen && it.op != Op::jump_ && it.op != Op::return_value_ && it.op != Op::raise_) {
        it.op = Op::nop_, it.arg = it.aux = 0, it.target = -1;
      }
      int cover = cover_[std::size_t(at)];
      if (auto found = handler_of_.find(at); found != handler_of_.end() && it.op != Op::with_exit_ && seen) {
        const Block& block = blocks_[std::size_t(found->second)];
        starts[std::size_t(found->second)] = int(result_.size());
        if (!block.bare) put_made(it, Op::push_exc_info_, found->second);
      }
      if (behind_.contains(at) && seen)
        put_made(it, Op::behind_handlers_, cover, is_else_break(at) + 2 * else_clauses_.contains(at));
      put(it, cover, false);
      if (auto more = after_.find(at); more != after_.end())
        for (const Instruction& made : more->second) {
          int block = cover;
          if (auto inside = protected_after_.find(at); inside != protected_after_.end() && made.op == Op::protected_)
            block = inside->second;
          if (auto left = left_after_.find(at); left != left_after_.end() && made.op == Op::pop_except_)
            cover = block = left->second;
          put(made, block, true);
        }
      if (auto with = with_handlers_.find(at); with != with_handlers_.end()) {
        if (seen) put_made(it, Op::jump_, cover, 0, int(result_.size()));
        std::size_t around = result_.size() - 1;
        starts[std::size_t(with->second.handler)] = int(result_.size());
        put_with_handler(it, with->second);
        if (seen) result_[around].target = int(result_.size());
      }
    }
    where[old_.size()] = int(result_.size());
    // The cleanup of each handler.
    std::vector<int> cleanups(blocks_.size(), -1);
    Instruction last = result_.back();
    for (std::size_t index = 0; index < blocks_.size(); ++index) {
      const Block& block = blocks_[index];
      if (block.kind != Block::Kind::handler || block.bare || starts[index] < 0) continue;
      cleanups[index] = int(result_.size());
      put_made(last, Op::copy_, block.parent, 3);
      put_made(last, Op::pop_except_, block.parent);
      put_made(last, Op::reraise_, block.parent, 1);
    }
    for (std::size_t at = 0; at < result_.size(); ++at)
      if (int& target = result_[at].target; target >= 0 && !translated_[at]) target = where[std::size_t(target)];
    ranges(starts, cleanups);
    decoded_.instructions = std::move(result_);
  }

  void put_with_handler(const Instruction& like, const WithHandler& with) {
    const int inside = with.handler, outside = blocks_[std::size_t(inside)].parent;
    put_made(like, Op::push_exc_info_, inside);
    put_made(like, Op::with_except_start_, inside);
    for (int at = with.await_begin; at < with.await_end; ++at) {
      const Instruction& it = old_[std::size_t(at)];
      put_made(like, it.op, inside, it.arg);
    }
    put_made(like, Op::pop_jump_if_true_, inside, 0, int(result_.size()) + 2);
    put_made(like, Op::reraise_, inside, 2);
    put_made(like, Op::pop_top_, inside);
    put_made(like, Op::pop_except_, outside);
    put_made(like, Op::pop_top_, outside);
    put_made(like, Op::pop_top_, outside);
  }

  void ranges(const std::vector<int>& starts, const std::vector<int>& cleanups) {
    for (int begin = 0; begin < int(result_.size());) {
      int end = begin + 1, block = covers_[std::size_t(begin)];
      while (end < int(result_.size()) && covers_[std::size_t(end)] == block) ++end;
      if (block >= 0) {
        const Block& info = blocks_[std::size_t(block)];
        ProtectedRange range;
        range.begin = begin, range.end = end;
        if (info.kind == Block::Kind::setup) {
          range.target = starts[std::size_t(handler_of_.at(info.target))];
          range.depth = info.kept, range.lasti = info.with, range.called = info.called && !info.bare && !info.with;
        } else {
          range.target = cleanups[std::size_t(block)];
          range.depth = info.kept + 1 + info.with, range.lasti = true;
        }
        if (range.target >= 0) decoded_.ranges.push_back(range);
      }
      begin = end;
    }
  }

  DecodedCode& decoded_;
  const Version version_;
  const std::vector<Instruction> old_;
  std::vector<Instruction> code_;  // what stands for each; targets are indices of old ones
  std::vector<bool> targets_, called_, seen_;
  std::vector<int> cover_;  // block that protects it
  int at_ = 0;
  std::vector<Block> blocks_;
  std::vector<std::pair<int, State>> todo_;
  std::unordered_map<int, State> states_;  // at jump targets
  std::unordered_map<int, int> handler_of_;  // by where it starts: block
  std::unordered_map<int, int> ends_;  // of finally clauses of 3.8, by where they start
  std::unordered_map<int, std::vector<std::pair<int, State>>> waiting_;  // ways into those whose end is not known yet
  std::unordered_map<int, std::vector<Instruction>> after_;  // more that stands for one
  std::unordered_map<int, int> protected_after_, left_after_;  // block in which part of `after_` lies
  std::unordered_set<int> behind_;  // what follows a try statement of 3.8
  std::unordered_set<int> else_clauses_;  // of those: where one starts
  std::unordered_map<int, int> statement_ends_;  // by END_FINALLY: where its try statement ends
  std::vector<std::pair<int, State>> dead_ends_;  // END_FINALLY that raises, with the state behind it
  std::unordered_map<int, WithHandler> with_handlers_;  // by where it is put
  std::vector<Instruction> result_;
  std::vector<int> covers_;
  std::vector<bool> translated_;  // the target counts new instructions
};

}  // namespace

Result<bool> replace_block_stack(DecodedCode& decoded) {
  if (decoded.code->version >= Version{3, 11}) return true;
  bool any = std::any_of(decoded.instructions.begin(), decoded.instructions.end(), [](const Instruction& it) {
    return it.op == Op::setup_finally_ || it.op == Op::setup_with_ || it.op == Op::setup_async_with_;
  });
  if (!any) return true;
  try {
    Unwinder(decoded).run();
  } catch (const Stop& stop) {
    return Error{stop.what, decoded.instructions[std::size_t(stop.at)].offset};
  }
  return true;
}

}  // namespace depyf
