// Defines what an operation may touch while it runs, and what it can answer.
#pragma once

#include <string>

#include "prove/frame.h"
#include "prove/program.h"

namespace depyf {

// The reason why the run of one side has ended.
struct Outcome {
  Step step = Step::stuck;
  Effect effect;
  Symbol split = Symbols::null;  // the unknown boolean on which the execution branches
  std::string reason;            // why the step is stuck
  bool met = false;              // true if the run passed a place where ways meet
};

// Everything that an operation works on: the symbols of both sides, the program, and the frame of one side.
struct Execution {
  Symbols& symbols;
  const Program& program;
  Frame frame;
  Outcome outcome = {};

  Step stuck(std::string reason);
  Step effect(Effect made);
  // Makes the instruction an effect that pops its operands and pushes unknown results.
  Step simple(const Instruction& it, int detail);
  // Makes the instruction an effect like `simple`, with the name that its argument stands for.
  Step named(const Instruction& it);
  // Makes an effect whose operands stay on the stack.
  Step peeks(Op op, int count, int results, bool boolean = false, bool raises = true);
  // Returns the truth of `value` as a boolean symbol. Returns -1 if the test is an effect or fails; `step` says which.
  Symbol truth(Symbol value, Step& step);
};

}  // namespace depyf
