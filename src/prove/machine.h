// Executes the code of one frame symbolically, up to the next effect or branch.
#pragma once

#include <vector>

#include "prove/execution.h"

namespace depyf {

// Executes one of the two code objects that the prover compares (a "side"). The walk of walk.h compares the effects
// of two machines, and then calls `follow`, `jump` or `raise` on both machines.
class Machine {
 public:
  Machine(Symbols& symbols, const Program& program, int side) : execution_{symbols, program, Frame(symbols, side)} {}

  // Runs the code object up to its next effect or branch.
  Outcome run(State& state);

  // Moves the code object past a matched effect. `results` are the symbols for the values that the effect produces.
  void follow(State& state, const Effect& effect, const std::vector<Symbol>& results);
  // Moves the code object to the jump target of the instruction whose effect was matched: a loop is exhausted, or the
  // receiver of a `send` has returned.
  void jump(State& state, const Effect& effect, const std::vector<Symbol>& results);
  // Moves the code object to the handler of `exception`. Returns false if the stack is too short for the handler, or if
  // the exception's class and traceback have no terms (up to 3.10).
  bool raise(State& state, Symbol exception);
  // Returns true if an exception at the current instruction has a handler in this frame.
  bool has_handler(const State& state) const;

  const Instruction* instruction(const Side& side) const {
    return side.at >= 0 ? &execution_.program.decoded.instructions[static_cast<std::size_t>(side.at)] : nullptr;
  }

 private:
  Step step();

  Execution execution_;
  std::int64_t steps_ = 0;
};

}  // namespace depyf
