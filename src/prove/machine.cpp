#include "prove/machine.h"

#include "decode/decode.h"
#include "decode/op_info.h"
#include "dialect/dialect.h"

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

}  // namespace

Step Machine::stuck(std::string reason) {
  outcome_.reason = std::move(reason);
  return Step::stuck;
}

Machine::Outcome Machine::run(State& state) {
  state_ = &state;
  outcome_ = {};
  Side snapshot;
  int next_snapshot = steps_before_looking;
  for (int count = 0;; ++count) {
    const int at = frame().at;
    if (at >= program_.size) {
      outcome_.step = stuck("the bytecode ends");
      break;
    }
    if (at >= 0 && program_.meets[static_cast<std::size_t>(at)]) outcome_.met = true;
    outcome_.step = step();
    if (outcome_.step != Step::silent) break;
    if (++steps_ > steps_max || depth() > program_.code().stacksize + stack_slack) {
      outcome_.step = stuck("too long without an effect");
      break;
    }
    if (count < steps_before_looking) continue;
    // A loop that nobody sees may make an object each time round, which never gives the same state again.
    if (count % steps_before_looking == 0) collect(frame(), symbols_);
    // Brent: the state of some earlier moment comes back, or never.
    if (frame() == snapshot) {
      outcome_.step = effect({.op = Op::jump_, .then = Effect::Then::end, .raises = false});
      break;
    }
    if (count == next_snapshot) snapshot = frame(), next_snapshot *= 2;
  }
  return std::move(outcome_);
}

Step Machine::effect(Effect made) {
  for (Symbol operand : made.operands) {
    if (operand < 0) return stuck("a value that is not understood");
  }
  if (program_.watched && made.then != Effect::Then::bound) add_locals(made);
  outcome_.effect = std::move(made);
  return Step::effect;
}

Step Machine::simple(const Instruction& it, int detail) {
  StackEffect size = stack_effect(it, program_.version(), false);
  Effect made{.op = it.op, .detail = detail, .operands = top(size.pops)};
  made.pops = size.pops, made.results = size.pushes;
  for (Symbol operand : made.operands) {
    if (symbols_.may_be_null(operand)) return stuck("no value where one is needed");
  }
  return effect(std::move(made));
}

Step Machine::named(const Instruction& it) {
  Step step = simple(it, 0);
  if (step == Step::effect) outcome_.effect.name = program_.names[static_cast<std::size_t>(it.arg)];
  return step;
}

// Operands stay on the stack.
Step Machine::peeks(Op op, int count, int results, bool boolean, bool raises) {
  if (depth() < count) return stuck("the stack is too short");
  Effect made{.op = op, .operands = top(count)};
  made.results = results, made.boolean = boolean, made.raises = raises;
  for (Symbol operand : made.operands) {
    if (symbols_.may_be_null(operand)) return stuck("no value where one is needed");
  }
  return effect(std::move(made));
}

Symbol Machine::fact(Symbol boolean) const {
  const SymbolInfo& info = symbols_[boolean];
  const bool negated = info.kind == SymbolInfo::Kind::term && info.text == "not";
  for (auto [term, truth] : state_->facts) {
    if (term == (negated ? info.args[0] : boolean)) return symbols_.boolean(truth != negated);
  }
  return boolean;
}

Symbol Machine::truth(Symbol value, Step& step) {
  step = Step::silent;
  if (symbols_.may_be_null(value)) return step = stuck("no value where one is needed"), -1;
  if (const Constant* constant = symbols_.value(value)) {
    if (int known = truth_of(*constant); known >= 0) return symbols_.boolean(known);
  }
  if (symbols_[value].boolean) return fact(value);
  if (const Object* known = object(value)) {
    const bool sized = is_sequence(known->kind) || known->kind == Object::Kind::dict;
    return symbols_.boolean(!sized || !known->items.empty());
  }
  if (frame().asked && value == state_->tested) return fact(state_->truth);
  Effect made{.op = Op::to_bool_, .operands = {value}};
  made.then = Effect::Then::tested, made.results = 1, made.boolean = true;
  step = effect(std::move(made));
  return -1;
}

// A branch on a boolean is no effect: both outcomes are followed, on both sides.
Step Machine::branch(const Instruction& it) {
  Symbol test = -1;
  Step step = Step::silent;
  if (it.op == Op::pop_jump_if_none_ || it.op == Op::pop_jump_if_not_none_) {
    test = symbols_.is(peek(1), symbols_.none());
    if (test < 0) return stuck("a value that is not understood");
    test = fact(test);
  } else {
    test = truth(peek(1), step);
    if (test < 0) return step;
  }
  if (test != symbols_.boolean(true) && test != symbols_.boolean(false)) {
    outcome_.split = test;
    return Step::split;
  }
  bool holds = test == symbols_.boolean(true);
  constexpr OpSet jumps_if_true = {Op::jump_if_true_or_pop_, Op::pop_jump_if_true_, Op::pop_jump_if_none_};
  const bool jumps = holds == jumps_if_true.has(it.op);
  const bool keeps = info_of(it.op).control == Control::keeping_test;
  if (!keeps || !jumps) pop();
  return jumps ? go(it.target) : silent();
}

// Comparisons of constants, as state machines have them.
Step Machine::constant_test(const Instruction& it) {
  const Constant *a = symbols_.value(peek(2)), *b = symbols_.value(peek(1));
  if (!a || !b || a->kind != Constant::Kind::integer || b->kind != a->kind) return Step::stuck;
  if (a->text.starts_with("0x") || b->text.starts_with("0x") || a->text.starts_with("-0x") ||
      b->text.starts_with("-0x")) {
    return Step::stuck;
  }
  auto op = static_cast<CompareOp>(it.arg);
  if (op != CompareOp::eq && op != CompareOp::ne) return Step::stuck;
  bool holds = (a->text == b->text) == (op == CompareOp::eq);
  drop(2);
  push(symbols_.boolean(holds));
  return silent();
}

// A jump that keeps the value, and leads straight to a jump that asks again (to 3.11): CPython's compiler threads these or
// not by the lines that they stand on, so that the same source may ask once or twice.
bool Machine::threads(Op op) const {
  const bool keeps = op == Op::jump_ || op == Op::jump_if_true_or_pop_ || op == Op::jump_if_false_or_pop_;
  constexpr OpSet threaded = {Op::jump_, Op::pop_jump_if_true_, Op::pop_jump_if_false_, Op::jump_if_true_or_pop_,
                              Op::jump_if_false_or_pop_};
  return keeps && threaded.has(program_.decoded.instructions[static_cast<std::size_t>(frame().at)].op);
}

Step Machine::step() {
  Side& side = frame();
  if (side.at == Side::left) {
    // To 3.11 the interpreter itself turns a StopIteration that leaves a generator into a RuntimeError.
    if (!side.second && program_.is_generator() && !program_.dialect().wrapped_stop_iteration &&
        program_.across(&Dialect::wrapped_stop_iteration)) {
      Effect made{.op = Op::intrinsic_1_, .detail = static_cast<int>(Intrinsic1::stopiteration_error)};
      made.operands = side.stack;
      made.half = true, made.pops = made.results = 1;
      return effect(std::move(made));
    }
    return effect({.op = Op::reraise_, .operands = side.stack, .then = Effect::Then::end, .raises = false});
  }
  const Instruction& it = program_.decoded.instructions[static_cast<std::size_t>(side.at)];
  StackEffect size = stack_effect(it, program_.version(), false);
  if (size.pops > depth() && !side.second && !counts_itself(it.op)) return stuck("the stack is too short");
  const Step step = dispatch(it);
  if (step == Step::silent) side.asked = side.asked && side.at == it.target && threads(it.op);
  return step;
}

void Machine::follow(State& state, const Effect& effect, const std::vector<Symbol>& results) {
  state_ = &state;
  Side& side = frame();
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
      drop(effect.pops);
      push(results[0]);
      side.blocks.push_back({program_.decoded.instructions[static_cast<std::size_t>(side.at)].target, depth()});
      push(results[1]);
      break;
    case Effect::Then::push:
    case Effect::Then::iterate:
      drop(effect.pops);
      for (Symbol result : results) push(effect.negated ? symbols_.negation(result) : result);
      if (effect.method) push(symbols_.term(self_of, {results[0]}));
      if (effect.none) push(symbols_.none());
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
  state_ = &state;
  Side& side = frame();
  const Instruction& it = program_.decoded.instructions[static_cast<std::size_t>(side.at)];
  if (effect.then == Effect::Then::iterate) {
    if (it.aux == 1) push(symbols_.known("an undefined item"));
    else pop();
  } else {
    if (!program_.dialect().send_keeps_receiver) pop();
    side.stack.back() = results[0];
  }
  side.asked = false;
  side.at = it.target;
}

bool Machine::raise(State& state, Symbol exception) {
  state_ = &state;
  return unwind(frame(), exception);
}

bool Machine::has_handler(const State& state) const {
  const Side& side = state.sides[side_];
  if (side.at < 0) return false;
  if (!program_.has_table()) return !side.blocks.empty();
  return program_.handler_of[static_cast<std::size_t>(side.at)] >= 0;
}

}  // namespace depyf
