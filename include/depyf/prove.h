// Proves that two code objects are equivalent.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace depyf {

struct CodeObject;

// The place where two code objects differ: the first differing effect in the order of execution.
struct ProofPlace {
  std::string function;                           // qualified name of the code object on the first side
  std::int32_t offset_one = -1, offset_two = -1;  // offsets in bytes; -1 if unknown
  std::int32_t line_one = -1, line_two = -1;      // source lines; -1 if unknown
  std::string one, two;                           // descriptions of what each side does at that place
};

// A value that the second side still holds at an effect, although the first side has released it.
struct KeptValue {
  std::string function;         // qualified name of the code object on the second side
  std::int32_t offset = -1;  // byte offset of the effect in the second side's code
  std::int32_t line = -1;    // source line of the effect on the second side
  std::string local;         // name of the variable that holds the value; empty if the value stack holds the value
  std::string value;         // a description of the value
  std::string effect;        // a description of the effect
  bool outermost = true;     // false if the effect is in a nested code object
};

// The result of `prove`.
struct Proof {
  bool proved = false;
  bool same_effects = false;  // whether both sides have the same effects, apart from life times
  std::int64_t steps = 0;     // number of steps of the walk; 0 in a successful result of `prove`
  std::string reason;         // why the code objects are not proved equivalent; empty if they are
  ProofPlace where;           // meaningless if the code objects are proved equivalent
  // The nested code objects that correspond to each other, if the effects are the same. A pair holds the index of a
  // nested code object in the constants of the first side and the index of the corresponding code object in the
  // constants of the second side. Nested code that only unreachable code loads is in no pair.
  std::vector<std::pair<std::int32_t, std::int32_t>> nested = {};
  // The values that are kept too long, in the order of the second side's code. The list of kept values is complete if
  // both sides have the same effects.
  std::vector<KeptValue> kept;
};

// The facts that a proof may rely on, and whether life times are part of the proof.
struct ProofOptions {
  bool lifetimes = true;
  // Whether to list the values that the second side keeps too long; `lifetimes` needs the list.
  bool list_kept = true;
  // Says whether a quick proof is tried before the full walk, or instead of it. The quick proof knows fewer rules, and
  // does not compare life times.
  enum class Lockstep : std::uint8_t { never, first, only };
  Lockstep lockstep = Lockstep::never;
  // The largest number of steps for the walk through one pair of code objects. The walk also has a limit that grows
  // with the size of the code; a negative number means that limit alone.
  std::int64_t steps = -1;
  // True if the code runs only under a frame evaluation function (PEP 523), such as Dynamo's. Under a frame evaluation
  // function CPython does not inline calls of Python functions, so the operands of a call stay on the caller's value
  // stack until the call returns.
  bool calls_keep_operands = false;
  // Names of globals that are known to exist and to keep their values, so that loading them is no effect.
  std::set<std::string, std::less<>> installed;
  // The names among `installed` of functions that return a fresh tuple or list, with the number of its items.
  std::map<std::string, int, std::less<>> outputs;
};

// Proves that `two` does what `one` does, as far as any program can observe without looking at bytecode or at positions
// in tracebacks. Both code objects, and the code objects nested in them, must have the same effects in the same order
// on equal operands. The names of the two outermost code objects are not compared. The proof always ends; code objects
// whose equality it cannot decide count as not proved.
//
// The life times of values are part of the proof if `options.lifetimes` is set. At each effect that can run other code
// or allocate memory, `one` must hold every value that `two` holds. A value is held in a local, a cell, the value
// stack, or a container that only the frame has. During a call or a yield, the frame does not hold the operands, which
// are passed to the callee or the caller (see `calls_keep_operands`). The life times of constants, booleans and
// `installed` globals are not compared.
//
// The proof ignores the life times of values that `two` releases earlier, and of containers that only one side puts
// around values that both sides hold. In exception handlers that can only raise, no life times are compared, because
// the traceback keeps the frame's locals alive.
//
// The proof ignores two choices of CPython's compiler: a jump may test a value again that the jump before it has tested
// (until 3.11), and a tuple of constants may be one constant or be built at run time. The proof assumes that other code
// reads a frame's locals only if the frame's code names `locals`, `sys._getframe` or the like.
Proof prove(const CodeObject& one, const CodeObject& two, const ProofOptions& options = {});

}  // namespace depyf
