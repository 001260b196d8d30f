// What an operation may touch while it runs, and what it can answer.
#pragma once

#include <string>

#include "prove/frame.h"
#include "prove/program.h"

namespace depyf {

struct Outcome {
  Step step = Step::stuck;
  Effect effect;
  Symbol split = Symbols::null;  // a boolean that the execution branches on
  std::string reason;            // why it is stuck
  bool met = false;              // came along where ways meet
};

struct Execution {
  Symbols& symbols;
  const Program& program;
  Frame frame;
  Outcome outcome = {};

  Step stuck(std::string reason);
  Step effect(Effect made);
  Step simple(const Instruction& it, int detail);  // pops operands, pushes unknown results
  Step named(const Instruction& it);               // the same with a name
  // Operands stay on the stack.
  Step peeks(Op op, int count, int results, bool boolean = false, bool raises = true);
  Symbol truth(Symbol value, Step& step);  // -1: see step
};

}  // namespace depyf
