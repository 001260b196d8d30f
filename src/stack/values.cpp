#include "stack/values.h"

#include <algorithm>
#include <tuple>

#include "decode/op.h"
#include "decode/op_info.h"
#include "dialect/dialect.h"
#include "support/table.h"

namespace depyf {
namespace {

// The greatest product of the number of instructions and the number of locals for which locals are tracked.
constexpr std::size_t locals_budget = 4'000'000;
constexpr std::size_t steps_max = 40'000'000;
constexpr int depth_max = 100'000;

// True if control does not go on to the next instruction.
bool ends_flow(Op op) { return leaves_frame(op) || op == Op::jump_ || op == Op::unknown_; }
// True if the operation pushes an entry of the block stack, so that its target is a handler.
bool enters_block(Op op) { return info_of(op).control == Control::handler; }

}  // namespace

StackValues::StackValues(const DecodedCode& decoded) : decoded_(decoded), version_(decoded.version) {
  // In 3.8, finally clauses leave return addresses and placeholders on the stack, whose depth varies by path. Stacks of
  // 3.8 are not needed, because no interpreter of 3.8 runs depyf.
  if (dialect_of(version_).finally_subroutines) {
    fail("stacks are followed from 3.9 on");
    return;
  }
  follow_locals_ = code().size() * std::max<std::size_t>(1, decoded.localsplus.size()) <= locals_budget;
  stored_.assign(code().size(), -1);
  find_blocks();
  run();
}

// Blocks start at jump targets and handlers, and behind instructions that jump or never fall through.
void StackValues::find_blocks() {
  const int count = int(code().size());
  Table<bool> starts(count + 1, false), handler(count + 1, false);
  starts[0] = true;
  for (int at = 0; at < count; ++at) {
    const Instruction& it = code()[at];
    if (it.target >= 0 && it.target < count) {
      starts[it.target] = true;
      if (enters_block(it.op)) handler[it.target] = true;
      else starts[at + 1] = true;
    }
    if (ends_flow(it.op)) starts[at + 1] = true;
  }
  range_of_.assign(count, -1);
  // If several protected ranges cover an instruction, the first one applies, so the ranges are entered in reverse
  // order.
  for (int index = int(decoded_.ranges.size()) - 1; index >= 0; --index) {
    const ProtectedRange& range = decoded_.ranges[index];
    if (range.target < 0 || range.target >= count) continue;
    starts[range.target] = handler[range.target] = true;
    for (int at = std::max<int>(0, range.begin); at < std::min<int>(count, range.end); ++at) range_of_[at] = index;
  }
  block_of_.assign(count, 0);
  for (int at = 0; at < count; ++at) {
    if (starts[at]) {
      if (!blocks_.empty()) blocks_.back().end = at;
      Block& block = blocks_.emplace_back();
      block.begin = at, block.end = count, block.is_handler = handler[at];
    }
    block_of_[at] = int(blocks_.size()) - 1;
  }
}

// A value is identified by `kind`, `at` and `index`, so that simulating a block once more finds the same values.
int StackValues::make(StackValue::Kind kind, int at, int index) {
  auto [place, is_new] = known_.try_emplace({int(kind), at, index}, int(values_.size()));
  if (is_new) {
    StackValue& value = values_.emplace_back();
    value.kind = kind, value.at = at, value.index = index;
  }
  return place->second;
}

void StackValues::run() {
  if (blocks_.empty()) return;
  MachineState start;
  if (follow_locals_) start.locals.assign(decoded_.localsplus.size(), at_start);
  join(std::move(start), 0);
  while (!todo_.empty() && error_.empty()) {
    int block = todo_.back();
    todo_.pop_back();
    blocks_[block].queued = false;
    walk(block);
  }
}

// Any instruction may raise an exception, so the state in front of each instruction is passed to the handler that
// covers the instruction.
void StackValues::walk(int block) {
  MachineState state = *blocks_[block].entry;
  for (int at = blocks_[block].begin; at < blocks_[block].end; ++at) {
    if (++steps_ > steps_max) return fail("too much code");
    raise(state, at);
    if (!error_.empty() || !step(state, at, block)) return;
  }
  if (blocks_[block].end < int(code().size())) flow(state, block, blocks_[block].end);
}

// Passes the state to the handler that covers the instruction at `at`, with the stack cut to the handler's depth and
// the exception on top.
void StackValues::raise(const MachineState& state, int at) {
  MachineState next;
  int handler = -1;
  if (dialect_of(version_).exception_table) {
    if (range_of_[at] < 0) return;
    const ProtectedRange& range = decoded_.ranges[range_of_[at]];
    if (range.depth < 0 || std::size_t(range.depth) > state.stack.size()) return;
    handler = block_of_[range.target];
    next = state;
    next.stack.resize(range.depth);
    if (range.lasti) next.stack.push_back(make(StackValue::Kind::lasti, handler, 0));
    next.stack.push_back(make(StackValue::Kind::exception, handler, 0));
    // Up to 3.10, an exception unwinds the innermost block whose handler is not running.
  } else {
    std::size_t open = state.blocks.size();
    while (open > 0 && state.blocks[open - 1].handler < 0) --open;
    if (open == 0) return;
    const OpenBlock& block = state.blocks[open - 1];
    if (std::size_t(block.level) > state.stack.size()) return;
    handler = block_of_[block.handler];
    next = state;
    next.stack.resize(block.level);
    next.blocks.resize(open - 1);
    next.blocks.push_back({-1, block.level});
    // Up to 3.10, a handler starts with six values on the stack: traceback, value and type of the exception that was
    // being handled before, and then traceback, value and type of the raised exception.
    for (int i = 0; i < 2; ++i) next.stack.push_back(make(StackValue::Kind::traceback, handler, i));
    next.stack.push_back(make(StackValue::Kind::previous_exception, handler, 0));
    next.stack.push_back(make(StackValue::Kind::traceback, handler, 2));
    next.stack.push_back(make(StackValue::Kind::exception, handler, 0));
    next.stack.push_back(make(StackValue::Kind::exception, handler, 1));
  }
  join(std::move(next), handler);
}

void StackValues::flow(const MachineState& state, int from, int target) {
  const int to = block_of_[target];
  Table<int>& ways = blocks_[to].ways;
  if (std::find(ways.begin(), ways.end(), from) == ways.end()) ways.push_back(from);
  join(state, to);
}

void StackValues::join(MachineState state, int block) {
  Block& target = blocks_[block];
  bool changed = !target.entry;
  if (changed) {
    target.entry = std::move(state);
  } else {
    MachineState& entry = *target.entry;
    // In compiled code, all paths to a block have the same depth of the stack. In code that no compiler emitted, only
    // the slots that exist on all paths are known.
    if (state.stack.size() < entry.stack.size()) entry.stack.resize(state.stack.size()), changed = true;
    for (std::size_t slot = 0; slot < entry.stack.size(); ++slot) {
      int& mine = entry.stack[slot];
      // Different values of a slot become one `met` value of the block, which lists the different values as its
      // inputs.
      const int met = mine == state.stack[slot] ? mine : make(StackValue::Kind::met, block, int(slot));
      if (mine == met && mine == state.stack[slot]) continue;
      Table<int>& inputs = values_[met].inputs;
      for (int one : {mine, state.stack[slot]}) {
        if (one != met && inputs.size() < 8 && std::find(inputs.begin(), inputs.end(), one) == inputs.end())
          inputs.push_back(one);
      }
      if (mine != met) mine = met, changed = true;
    }
    // Different versions of a local become the version of the block where they meet.
    const VersionId here = int(code().size()) + block;
    for (std::size_t local = 0; local < entry.locals.size(); ++local) {
      if (entry.locals[local] != state.locals[local] && entry.locals[local] != here)
        entry.locals[local] = here, changed = true;
    }
    if (entry.memory != state.memory && entry.memory != here) entry.memory = here, changed = true;
    if (state.blocks.size() < entry.blocks.size()) entry.blocks.resize(state.blocks.size()), changed = true;
  }
  if (changed && !target.queued) target.queued = true, todo_.push_back(block);
}

// Simulates the instruction at `at`. Returns false if control does not go on to the next instruction, or on an error.
bool StackValues::step(MachineState& state, int at, int block) {
  const Instruction& it = code()[at];
  Table<int>& stack = state.stack;
  const int depth = int(stack.size());
  auto underflow = [&](int needed) {
    if (needed <= depth) return false;
    fail("offset " + std::to_string(it.offset) + " takes " + std::to_string(needed) + " of " + std::to_string(depth) +
         " values");
    return true;
  };
  if (it.op == Op::copy_ || it.op == Op::swap_ || it.op == Op::rotate_) {
    if (it.arg < 1 || underflow(it.arg)) return false;
    if (it.op == Op::copy_) stack.push_back(stack[depth - it.arg]);
    else if (it.op == Op::swap_) std::swap(stack[depth - 1], stack[depth - it.arg]);
    else std::rotate(stack.end() - it.arg, stack.end() - 1, stack.end());
    return true;
  }
  if (it.op == Op::setup_finally_ || it.op == Op::setup_async_with_) {
    // The result of __aenter__ lies above the level of the block.
    const int awaited = it.op == Op::setup_async_with_ ? 1 : 0;
    if (underflow(awaited)) return false;
    state.blocks.push_back({it.target, depth - awaited});
    return true;
  }
  if (it.op == Op::pop_block_) {
    if (!state.blocks.empty()) state.blocks.pop_back();
    return true;
  }
  if (it.op == Op::unknown_) return fail("an unknown operation"), false;
  auto taken_and_made = [&](MachineState& next, bool jump) {
    const StackEffect effect = stack_effect(it, version_, jump);
    if (effect.pops < 0 || effect.pushes < 0 || underflow(effect.pops)) {
      if (error_.empty()) fail("an operation without a stack effect");
      return false;
    }
    if (depth + effect.pushes > depth_max) return fail("the stack grows too deep"), false;
    Table<int> taken(next.stack.end() - effect.pops, next.stack.end());
    next.stack.resize(depth - effect.pops);
    special(next, it, at, taken, effect, jump);
    return true;
  };
  if (tests_truth(it.op) && depth > 0) blocks_[block].tested = stack.back();
  // An operation may have another stack effect if it jumps than if it does not.
  if (it.target >= 0 && !enters_block(it.op)) {
    MachineState jumped = state;
    if (!taken_and_made(jumped, true)) return false;
    flow(jumped, block, it.target);
  }
  if (ends_flow(it.op)) return false;
  const int top = depth > 0 ? stack.back() : -1;
  if (!taken_and_made(state, false)) return false;
  if (it.op == Op::setup_with_) state.blocks.push_back({it.target, depth});
  if (it.op == Op::pop_except_ && !dialect_of(version_).exception_table && !state.blocks.empty())
    state.blocks.pop_back();
  if (it.op == Op::store_fast_) stored_[at] = top;
  bool sets_local = it.op == Op::store_fast_ || it.op == Op::delete_fast_ || it.op == Op::load_fast_and_clear_ ||
                    it.op == Op::store_deref_ || it.op == Op::delete_deref_ || it.op == Op::make_cell_;
  if (sets_local && it.arg >= 0 && std::size_t(it.arg) < state.locals.size()) state.locals[it.arg] = at;
  // The version of memory changes with each instruction that may have effects.
  if (has_effects(it)) state.memory = at;
  return true;
}

// Pushes the values that an operation makes, with special cases for operations that move or change values on the stack.
void StackValues::special(MachineState& state, const Instruction& it, int at, const Table<int>& taken,
                          const StackEffect& effect, bool jump) {
  auto record = [&](int id) {
    StackValue& value = values_[id];
    value.inputs = taken;
    value.memory = state.memory;
    const bool reads_local = it.op == Op::load_fast_ || it.op == Op::load_fast_and_clear_ || it.op == Op::load_deref_;
    if (reads_local && it.arg >= 0 && std::size_t(it.arg) < state.locals.size()) value.local = state.locals[it.arg];
  };
  auto push = [&](int index) {
    const int id = make(StackValue::Kind::made, at, index);
    record(id);
    state.stack.push_back(id);
  };
  // Adding an item to a display on the stack creates another value, which replaces the old value in all slots.
  auto add_to = [&](int from_top) {
    if (from_top < 1 || std::size_t(from_top) > state.stack.size()) return;
    const int old = state.stack.end()[-from_top];
    const int id = make(StackValue::Kind::made, at, 0);
    record(id);
    values_[id].inputs.insert(values_[id].inputs.begin(), old);
    std::replace(state.stack.begin(), state.stack.end(), old, id);
  };
  if (adds_to_display(it.op)) return add_to(it.arg);
  if (it.op == Op::end_send_ && taken.size() >= 2) return state.stack.push_back(taken.back());
  if (it.op == Op::push_exc_info_ && taken.size() == 1 && effect.pushes == 2) {
    state.stack.push_back(make(StackValue::Kind::previous_exception, block_of_[at], at));
    return state.stack.push_back(taken[0]);
  }
  const int stay = std::min({effect.stays, int(taken.size()), effect.pushes});
  for (int index = 0; index < effect.pushes; ++index) {
    if (index < stay) state.stack.push_back(taken[index]);
    // A jump that is taken pushes other values than a jump that is not taken.
    else push(jump ? index + jump_values : index);
  }
}

// Only the states at the starts of blocks are kept; the state in front of `instruction` is simulated from the start of
// its block.
std::optional<MachineState> StackValues::before(int instruction) {
  if (!error_.empty() || instruction < 0 || instruction >= int(code().size())) return std::nullopt;
  const int block = block_of_[instruction];
  if (!blocks_[block].entry) return std::nullopt;
  MachineState state = *blocks_[block].entry;
  for (int at = blocks_[block].begin; at < instruction; ++at) {
    if (!step(state, at, block) || !error_.empty()) return std::nullopt;
  }
  return state;
}

}  // namespace depyf
