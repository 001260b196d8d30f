#include "prove/execution.h"

#include <utility>

#include "decode/decode.h"
#include "decode/op.h"
#include "prove/calls.h"

namespace depyf {

Step Execution::stuck(std::string reason) {
  outcome.reason = std::move(reason);
  return Step::stuck;
}

Step Execution::effect(Effect made) {
  for (Symbol operand : made.operands) {
    if (operand < 0) return stuck("a value that the prover does not know");
  }
  // Code that may get access to its own frame can read the locals at any time, so all locals are compared at every
  // effect.
  if (program.watched && made.then != Effect::Then::bound) operations::add_locals(symbols, program, frame, made);
  outcome.effect = std::move(made);
  return Step::effect;
}

Step Execution::simple(const Instruction& it, int detail) {
  StackEffect size = stack_effect(it, program.version(), false);
  Effect made{.op = it.op, .detail = detail, .operands = frame.top(size.pops)};
  made.pops = size.pops, made.results = size.pushes;
  for (Symbol operand : made.operands) {
    if (symbols.may_be_null(operand)) return stuck("no value where one is needed");
  }
  return effect(std::move(made));
}

Step Execution::named(const Instruction& it) {
  Step step = simple(it, 0);
  if (step == Step::effect) outcome.effect.name = program.names[static_cast<std::size_t>(it.arg)];
  return step;
}

Step Execution::peeks(Op op, int count, int results, bool boolean, bool raises) {
  if (frame.depth() < count) return stuck("the stack is too short");
  Effect made{.op = op, .operands = frame.top(count)};
  made.results = results, made.boolean = boolean, made.raises = raises;
  for (Symbol operand : made.operands) {
    if (symbols.may_be_null(operand)) return stuck("no value where one is needed");
  }
  return effect(std::move(made));
}

Symbol Execution::truth(Symbol value, Step& step) {
  step = Step::silent;
  if (symbols.may_be_null(value)) return step = stuck("no value where one is needed"), -1;
  if (const Constant* constant = symbols.value(value)) {
    if (int known = truth_of(*constant); known >= 0) return symbols.boolean(known);
  }
  if (symbols[value].boolean) return frame.fact(value);
  if (const Object* known = frame.object(value)) {
    // Objects that no other code has seen have built-in types: a container is true if it has items, any other object
    // is true.
    const bool sized = is_sequence(known->kind) || known->kind == Object::Kind::dict;
    return symbols.boolean(!sized || !known->items.empty());
  }
  // After the truth test of the value has been matched in both code objects, the instruction is executed a second
  // time, and the test has the recorded result.
  if (frame.side().asked && value == frame.state().tested) return frame.fact(frame.state().truth);
  Effect made{.op = Op::to_bool_, .operands = {value}};
  made.then = Effect::Then::tested, made.results = 1, made.boolean = true;
  step = effect(std::move(made));
  return -1;
}

}  // namespace depyf
