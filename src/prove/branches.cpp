// A branch on a boolean is not an effect, because no other code can observe the branch. The prover follows both
// outcomes of a branch in both code objects.
#include "prove/branches.h"

#include "decode/op.h"
#include "decode/op_info.h"

namespace depyf::operations {

Step branch(Execution& run, const Instruction& it) {
  Symbol test = -1;
  Step step = Step::silent;
  // `POP_JUMP_IF_NONE` tests identity with None, which never runs other code; all other conditional jumps test truth,
  // which may call `__bool__`.
  if (it.op == Op::pop_jump_if_none_ || it.op == Op::pop_jump_if_not_none_) {
    test = run.symbols.is(run.frame.peek(1), run.symbols.none());
    if (test < 0) return run.stuck("a value that the prover does not know");
    test = run.frame.fact(test);
  } else {
    test = run.truth(run.frame.peek(1), step);
    if (test < 0) return step;
  }
  if (test != run.symbols.boolean(true) && test != run.symbols.boolean(false)) {
    run.outcome.split = test;
    return Step::split;
  }
  bool holds = test == run.symbols.boolean(true);
  constexpr OpSet jumps_if_true = {Op::jump_if_true_or_pop_, Op::pop_jump_if_true_, Op::pop_jump_if_none_};
  const bool jumps = holds == jumps_if_true.has(it.op);
  const bool keeps = info_of(it.op).control == Control::keeping_test;
  // JUMP_IF_TRUE_OR_POP and JUMP_IF_FALSE_OR_POP leave the value on the stack only if they jump.
  if (!keeps || !jumps) run.frame.pop();
  return jumps ? run.frame.go(it.target) : run.frame.silent();
}

Step constant_test(Symbols& symbols, Frame& frame, const Instruction& it) {
  // Long integers are stored as hexadecimal text, which may differ for equal values, so `constant_test` does not
  // compare long integers.
  const Constant *a = symbols.value(frame.peek(2)), *b = symbols.value(frame.peek(1));
  if (!a || !b || a->kind != Constant::Kind::integer || b->kind != a->kind) return Step::stuck;
  if (a->text.starts_with("0x") || b->text.starts_with("0x") || a->text.starts_with("-0x") ||
      b->text.starts_with("-0x")) {
    return Step::stuck;
  }
  auto op = static_cast<CompareOp>(it.arg);
  if (op != CompareOp::eq && op != CompareOp::ne) return Step::stuck;
  bool holds = (a->text == b->text) == (op == CompareOp::eq);
  frame.drop(2);
  frame.push(symbols.boolean(holds));
  return frame.silent();
}

}  // namespace depyf::operations
