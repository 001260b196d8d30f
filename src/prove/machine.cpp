#include "prove/machine.h"

#include "decode/decode.h"
#include "decode/op.h"
#include "decode/op_info.h"
#include "dialect/dialect.h"
#include "prove/dispatch.h"
#include "prove/exceptions.h"

namespace depyf {
namespace {

constexpr int steps_before_looking = 4096;  // silent steps before the machine looks for an endless loop
constexpr int silent_rounds =
    4 * steps_before_looking;  // the most backward jumps in one silent run; a loop of equal states is detected earlier
constexpr std::int64_t steps_max = 1 << 20;  // the most silent steps of one code object in total
constexpr int stack_slack = 16;  // stack slots allowed beyond `co_stacksize`

// Returns true for an instruction of 3.8 whose stack use depends on the path that led to it; the implementation of the
// instruction checks the depth.
bool counts_itself(Op op) {
  return op == Op::end_finally_ || op == Op::pop_finally_ || op == Op::with_cleanup_start_ ||
         op == Op::with_cleanup_finish_;
}

// Returns true if a jump with the operation `op` leaves the tested value on the stack, and the frame has arrived at
// another jump, which can test the value again (up to 3.11). Depending on line numbers, CPython's compiler merges a
// jump with the jump at its target or leaves both, so the same source may test a value once or twice.
bool threads(const Program& program, const Frame& frame, Op op) {
  const bool keeps = op == Op::jump_ || op == Op::jump_if_true_or_pop_ || op == Op::jump_if_false_or_pop_;
  constexpr OpSet threaded = {Op::jump_, Op::pop_jump_if_true_, Op::pop_jump_if_false_, Op::jump_if_true_or_pop_,
                              Op::jump_if_false_or_pop_};
  return keeps && threaded.has(program.decoded.instructions[static_cast<std::size_t>(frame.side().at)].op);
}

bool is_jump_back(const Program& program, int at) {
  const int target = program.decoded.instructions[static_cast<std::size_t>(at)].target;
  return target >= 0 && target <= at;
}

}  // namespace

Outcome Machine::run(State& state) {
  execution_.frame.enter(state);
  execution_.outcome = {};
  Side snapshot;
  int next_snapshot = steps_before_looking;
  int rounds = 0;  // number of backward jumps; a loop may create more objects in each round
  // Each iteration executes one instruction, until an instruction is not silent.
  for (int count = 0;; ++count) {
    const int at = execution_.frame.side().at;
    if (at >= execution_.program.size) {
      execution_.outcome.step = execution_.stuck("the bytecode ends");
      break;
    }
    if (at >= 0 && execution_.program.meets[static_cast<std::size_t>(at)]) execution_.outcome.met = true;
    execution_.outcome.step = step();
    if (execution_.outcome.step != Step::silent) break;
    const int now = execution_.frame.side().at;
    if (now >= 0 && now <= at) ++rounds;
    if (++steps_ > steps_max || rounds > silent_rounds ||
        execution_.frame.depth() - stack_slack > execution_.program.stack_size) {
      execution_.outcome.step = execution_.stuck("too long without an effect");
      break;
    }
    if (count < steps_before_looking) continue;
    // A silent loop may create an object in each round, so unreachable objects are removed before states of the loop
    // are compared.
    if (count % steps_before_looking == 0) collect(execution_.frame.side(), execution_.symbols);
    // Brent's algorithm finds a cycle: the state is compared with a snapshot, which is renewed at doubling intervals.
    // An endless silent loop counts as one effect at a backward jump, because a signal handler may raise an exception
    // at each backward jump. Malformed code of 3.8 may loop without a backward jump, by END_FINALLY.
    if (execution_.frame.side() == snapshot) {
      for (int left = count; left > 0 && !is_jump_back(execution_.program, execution_.frame.side().at); --left) step();
      execution_.outcome.step = execution_.effect({.op = Op::jump_, .returns = false});
      break;
    }
    if (count == next_snapshot) snapshot = execution_.frame.side(), next_snapshot *= 2;
  }
  return std::move(execution_.outcome);
}

Step Machine::step() {
  Side& side = execution_.frame.side();
  if (side.at == Side::left) {
    // Up to 3.11 the interpreter itself turns a StopIteration that leaves a generator into a RuntimeError; from 3.12
    // on, an instruction of the generator does.
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
  // The result of a truth test stays valid if control jumps straight to another jump that tests the same value.
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
    // The effect was the load of a variable that may be unbound. The caller has replaced the symbol of its value by a
    // bound symbol, so the load succeeds when it is executed again.
    case Effect::Then::bound: return;
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
      // LOAD_METHOD pushes the method and its self; the self is a term, so that it is the same for both code objects.
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
