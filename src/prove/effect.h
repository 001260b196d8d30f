// Describes the effects of a frame, which are the actions that other code can observe.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/instruction.h"
#include "prove/symbols.h"

namespace depyf {

// An action of the frame that other code can observe, or that may raise. A proof requires that the next effects of
// the two code objects have the same op, detail, name and operands.
struct Effect {
  Op op{};
  std::int32_t detail = 0;
  Symbol name = Symbols::null;
  std::vector<Symbol> operands = {};
  // Symbols that are compared like operands but are no arguments, such as the locals that a call of locals() reads
  // from the frame.
  std::vector<Symbol> context = {};

  // States how the code object continues after its effect has been matched with an effect of the other code object.
  enum class Then : std::uint8_t {
    push,      // pops `pops` symbols and pushes the results
    iterate,   // pushes the next item, or jumps if the iterator is exhausted
    send,      // continues if the receiver has yielded, or jumps if the receiver has returned
    tested,    // executes the same instruction again, with the truth of its operand known
    bound,     // executes the same instruction again, with operands[0] known to be bound
    with,      // like `push`, with a block whose level is below the last result (SETUP_WITH up to 3.10)
    end,       // the frame ends
  };
  Then then = Then::push;
  bool raises = true, returns = true;  // true if the effect may raise; true if it may end without raising
  bool boolean = false;                // the last result is True or False
  bool method = false;                 // the result is a method, followed by its self or NULL
  bool half = false;                   // the instruction has a second effect
  bool negated = false;                // the result is negated
  bool none = false;                   // None is pushed after the results
  // The number of items if the result is the tuple or list that a compiled graph returns (see ProofOptions::outputs);
  // -1 for any other result.
  int outputs = -1;
  int pops = 0, results = 0;
};

// The outcome of executing one instruction, which is either invisible to other code (silent), an effect, a branch on
// an unknown boolean (split), or not understood (stuck).
enum class Step : std::uint8_t { silent, effect, split, stuck };

}  // namespace depyf
