#include "prove/machine.h"

#include "decode/decode.h"
#include "decode/op.h"
#include "decode/op_info.h"
#include "dialect/dialect.h"
#include "prove/dispatch.h"
#include "prove/exceptions.h"

namespace depyf {
namespace {

constexpr int steps_before_looking = 4096;  // silent ones, until an endless loop is looked for
constexpr std::int64_t steps_max = 1 << 20;  // of one side, in all
constexpr int stack_slack = 16;              // above what the code says it needs

// 3.8: what lies on the stack there depends on the way that leads there.
bool counts_itself(Op op) {
  return op == Op::end_finally_ || op == Op::pop_finally_ || op == Op::with_cleanup_start_ ||
         op == Op::with_cleanup_finish_;
}

// A jump that keeps the value, and leads straight to a jump that asks again (to 3.11): CPython's compiler threads these or
// not by the lines that they stand on, so that the same source may ask once or twice.
bool threads(const Program& program, const Frame& frame, Op op) {
  const bool keeps = op == Op::jump_ || op == Op::jump_if_true_or_pop_ || op == Op::jump_if_false_or_pop_;
  constexpr OpSet threaded = {Op::jump_, Op::pop_jump_if_true_, Op::pop_jump_if_false_, Op::jump_if_true_or_pop_,
                              Op::jump_if_false_or_pop_};
  return keeps && threaded.has(program.decoded.instructions[static_cast<std::size_t>(frame.side().at)].op);
}

}  // namespace

Outcome Machine::run(State& state) {
  execution_.frame.enter(state);
  execution_.outcome = {};
  Side snapshot;
  int next_snapshot = steps_before_looking;
  for (int count = 0;; ++count) {
    const int at = execution_.frame.side().at;
    if (at >= execution_.program.size) {
      execution_.outcome.step = execution_.stuck("the bytecode ends");
      break;
    }
    if (at >= 0 && execution_.program.meets[static_cast<std::size_t>(at)]) execution_.outcome.met = true;
    execution_.outcome.step = step();
    if (execution_.outcome.step != Step::silent) break;
    if (++steps_ > steps_max || execution_.frame.depth() > execution_.program.code().stacksize + stack_slack) {
      execution_.outcome.step = execution_.stuck("too long without an effect");
      break;
    }
    if (count < steps_before_looking) continue;
    // A loop that nobody sees may make an object each time round, which never gives the same state again.
    if (count % steps_before_looking == 0) collect(execution_.frame.side(), execution_.symbols);
    // Brent: the state of some earlier moment comes back, or never.
    if (execution_.frame.side() == snapshot) {
      execution_.outcome.step = execution_.effect({.op = Op::jump_, .then = Effect::Then::end, .raises = false});
      break;
    }
    if (count == next_snapshot) snapshot = execution_.frame.side(), next_snapshot *= 2;
  }
  return std::move(execution_.outcome);
}

Step Machine::step() {
  Side& side = execution_.frame.side();
  if (side.at == Side::left) {
    // To 3.11 the interpreter itself turns a StopIteration that leaves a generator into a RuntimeError.
    if (!side.second && execution_.program.is_generator() && !execution_.program.dialect().wrapped_stop_iteration &&
        execution_.program.across(&Dialect::wrapped_stop_iteration)) {
      Effect made{.op = Op::intrinsic_1_, .detail = static_cast<int>(Intrinsic1::stopiteration_error)};
      made.operands = side.stack;
      made.half = true, made.pops = made.results = 1;
      return execution_.effect(std::move(made));
    }
    return execution_.effect({.op = Op::reraise_, .operands = side.stack, .then = Effect::Then::end, .raises = false});
  }
  const Instruction& it = execution_.program.decoded.instructions[static_cast<std::size_t>(side.at)];
  StackEffect size = stack_effect(it, execution_.program.version(), false);
  if (size.pops > execution_.frame.depth() && !side.second && !counts_itself(it.op))
    return execution_.stuck("the stack is too short");
  const Step step = operations::dispatch(execution_, it);
  if (step == Step::silent)
    side.asked = side.asked && side.at == it.target && threads(execution_.program, execution_.frame, it.op);
  return step;
}

void Machine::follow(State& state, const Effect& effect, const std::vector<Symbol>& results) {
  execution_.frame.enter(state);
  Side& side = execution_.frame.side();
  switch (effect.then) {
    case Effect::Then::end: return;
    case Effect::Then::tested:
      side.asked = true;
      state.tested = effect.operands[0];
      state.truth = results[0];
      return;
    case Effect::Then::bound: return;  // the symbol itself has been replaced
    case Effect::Then::send: side.stack.back() = results[0]; break;
    case Effect::Then::with:
      execution_.frame.drop(effect.pops);
      execution_.frame.push(results[0]);
      side.blocks.push_back({execution_.program.decoded.instructions[static_cast<std::size_t>(side.at)].target,
                             execution_.frame.depth()});
      execution_.frame.push(results[1]);
      break;
    case Effect::Then::push:
    case Effect::Then::iterate:
      execution_.frame.drop(effect.pops);
      for (Symbol result : results)
        execution_.frame.push(effect.negated ? execution_.symbols.negation(result) : result);
      if (effect.method) execution_.frame.push(execution_.symbols.term(self_of, {results[0]}));
      if (effect.none) execution_.frame.push(execution_.symbols.none());
      if (effect.half) {
        side.second = true;
        return;
      }
      break;
  }
  side.second = side.asked = false;
  ++side.at;
}

void Machine::jump(State& state, const Effect& effect, const std::vector<Symbol>& results) {
  execution_.frame.enter(state);
  Side& side = execution_.frame.side();
  const Instruction& it = execution_.program.decoded.instructions[static_cast<std::size_t>(side.at)];
  if (effect.then == Effect::Then::iterate) {
    if (it.aux == 1) execution_.frame.push(execution_.symbols.known("an undefined item"));
    else execution_.frame.pop();
  } else {
    if (!execution_.program.dialect().send_keeps_receiver) execution_.frame.pop();
    side.stack.back() = results[0];
  }
  side.asked = false;
  side.at = it.target;
}

bool Machine::raise(State& state, Symbol exception) {
  execution_.frame.enter(state);
  return operations::unwind(execution_.symbols, execution_.program, execution_.frame.side(), exception);
}

bool Machine::has_handler(const State& state) const {
  const Side& side = execution_.frame.side_in(state);
  if (side.at < 0) return false;
  if (!execution_.program.has_table()) return !side.blocks.empty();
  return execution_.program.handler_of[static_cast<std::size_t>(side.at)] >= 0;
}

}  // namespace depyf
