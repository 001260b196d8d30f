// Equivalence of two code objects.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace depyf {

struct CodeObject;

// Where two code objects part: the first effect, in the order of execution, that differs.
struct ProofPlace {
  std::string function;                      // qualified name of the code object, of the first side
  std::int32_t offset_one = -1, offset_two = -1;  // in bytes; -1: no place in the bytecode
  std::int32_t line_one = -1, line_two = -1;      // of the source
  std::string one, two;                      // what either side does there, in words
};

// A value that the second side still holds at an effect where the first side holds it no longer.
struct KeptValue {
  std::string function;         // qualified name of the code object, of the second side
  std::int32_t offset = -1;     // of the effect, in bytes, on the second side
  std::int32_t line = -1;       // the same, of the source
  std::string local;            // that holds the value; empty: the value stack does
  std::string value;            // what the value is, in words
  std::string effect;           // what runs meanwhile, in words
  bool outermost = true;        // false: in nested code
};

struct Proof {
  bool proved = false;
  bool same_effects = false;  // life times aside, `two` does what `one` does
  std::int64_t steps = 0;  // that the pair took which was walked last
  std::string reason;  // why it is not proved; empty where it is
  ProofPlace where;    // meaningless where it is
  // Where the effects are the same: the code objects among the constants that take each other's part, as (index in the
  // constants of the first side, index in those of the second). Code that no execution reaches has no part.
  std::vector<std::pair<std::int32_t, std::int32_t>> nested = {};
  std::vector<KeptValue> kept;  // in the order of the second side's code; complete where the effects are the same
};

// What a proof may rely on, and whether life times are part of it.
struct ProofOptions {
  bool lifetimes = true;
  // Whether to list the values that the second side keeps too long; `lifetimes` needs the list.
  bool list_kept = true;
  // Whether to try a quick proof before the walk, or in its place. It knows less, and nothing of life times.
  enum class Lockstep : std::uint8_t { never, first, only };
  Lockstep lockstep = Lockstep::never;
  // How many steps one pair of code objects may take; negative: as many as its size asks for.
  std::int64_t steps = -1;
  // The code runs only under a frame evaluation function (PEP 523), as Dynamo's does. CPython then runs no call within the
  // frame that calls, so the operands of a call stay on the value stack until it returns.
  bool calls_keep_operands = false;
  // Global names that are known to be there and to keep their value, so that loading one is no effect.
  std::set<std::string, std::less<>> installed;
  // Those of them that name a function which returns a new tuple or list of so many items, which nobody else has.
  std::map<std::string, int, std::less<>> outputs;
};

// Whether `two` does what `one` does, as far as any program can tell without looking at bytecode or the positions in
// tracebacks: the same effects in the same order on equal operands, nested code included. The outermost names are not
// compared. Always ends; what cannot be decided is not proved.
// Life times: at each effect that can run other code or allocate, every value that `two` holds in a local, a cell, the value
// stack or a container that only its frame has, must be held by `one` too. A call hands its operands to what it calls, and a
// yield hands its operand to the caller: the frame holds them no longer (see `calls_keep_operands`). Constants, booleans and
// `installed` globals do not count. Not compared: values that `two` lets go of earlier; the memory of containers that only
// one side has around values that both hold; and what the frame holds once an exception is bound to leave it, in handlers
// that can only raise for one, as the traceback keeps the frame's locals then.
// Taken for the same, as CPython's compiler chooses between them: a value that is asked for its truth by a jump and again
// by the jump where that leads (to 3.11), and a tuple of constants that is one or built. Nobody but code that names
// locals(), sys._getframe() or the like is taken to look at a frame's locals from outside.
Proof prove(const CodeObject& one, const CodeObject& two, const ProofOptions& options = {});

}  // namespace depyf
