// One frame over symbols: instructions run in silence up to the next effect.
#pragma once

#include <vector>

#include "prove/execution.h"

namespace depyf {

class Machine {
 public:
  Machine(Symbols& symbols, const Program& program, int side) : execution_{symbols, program, Frame(symbols, side)} {}

  // Runs the side up to the next effect or branch.
  Outcome run(State& state);

  // After a matched effect: the ways on. `results` are the same symbols for both sides.
  void follow(State& state, const Effect& effect, const std::vector<Symbol>& results);
  void jump(State& state, const Effect& effect, const std::vector<Symbol>& results);
  // False: what happens then is not understood.
  bool raise(State& state, Symbol exception);
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
