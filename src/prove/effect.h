// Describes the effects of a frame: what other code can observe.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/instruction.h"
#include "prove/symbols.h"

namespace depyf {

// An action of the frame that other code can observe, or that may raise. The next effects of both sides must have the
// same op, detail, name and operands.
struct Effect {
  Op op{};
  std::int32_t detail = 0;
  Symbol name = Symbols::null;
  std::vector<Symbol> operands = {};
  // Symbols that are compared like operands, but are no arguments: what super() or locals() find in the frame.
  std::vector<Symbol> context = {};

  // Says how this side continues after its effect has been matched with an effect of the other side.
  enum class Then : std::uint8_t {
    push,      // pops `pops` symbols and pushes the results
    iterate,   // pushes the next item; or jumps, because the iterator is exhausted
    send,      // the receiver has yielded; or it has returned, and the jump is taken
    tested,    // executes the same instruction again, with the truth of its operand known
    bound,     // executes the same instruction again, with operands[0] known to be bound
    with,      // SETUP_WITH until 3.10: like push, and pushes a block whose level is below the last result
    end,       // the frame ends
  };
  Then then = Then::push;
  bool raises = true, returns = true;  // whether the effect may raise, and whether it may end without raising
  bool boolean = false;                // the last result is True or False
  bool method = false;                 // the result is a method, followed by its self or NULL
  bool half = false;                   // the instruction has a second effect
  bool negated = false;                // the result is negated
  bool none = false;                   // None is pushed after the results
  // The number of items if the result is a container of a compiled graph (see ProofOptions); -1 for any other value.
  int outputs = -1;
  int pops = 0, results = 0;
};

// The result of executing one instruction: other code cannot observe it, it is an effect, it branches on an unknown
// boolean, or the prover does not understand it.
enum class Step : std::uint8_t { silent, effect, split, stuck };

}  // namespace depyf
