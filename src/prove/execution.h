// Defines the state that an operation may read and change, and the outcomes that it can have.
#pragma once

#include <string>

#include "prove/frame.h"
#include "prove/program.h"

namespace depyf {

// The result of running one of the two code objects up to its next effect, branch or failure.
struct Outcome {
  Step step = Step::stuck;
  Effect effect;
  Symbol split = Symbols::null;  // the unknown boolean on which the execution branches
  std::string reason;            // the reason why the step is stuck
  bool met = false;              // true if the run passed a jump target or the start of a handler
};

// Everything that an operation works on: the symbols that both code objects share, one of the code objects, and its
// frame.
struct Execution {
  Symbols& symbols;
  const Program& program;
  Frame frame;
  Outcome outcome = {};

  Step stuck(std::string reason);
  Step effect(Effect made);
  // Makes the instruction an effect that pops its operands and pushes unknown results.
  Step simple(const Instruction& it, int detail);
  // Makes the instruction an effect like `simple`, with the name that the instruction's argument refers to.
  Step named(const Instruction& it);
  // Makes an effect whose operands stay on the stack.
  Step peeks(Op op, int count, int results, bool boolean = false, bool raises = true);
  // Returns the truth of `value` as a boolean symbol. Returns -1 and sets `step` if the test is an effect or fails.
  Symbol truth(Symbol value, Step& step);
};

}  // namespace depyf
