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

// The place where two code objects, the first side and the second side, differ: the first differing effect in the order
// of execution.
struct ProofPlace {
  std::string function;                           // qualified name of the code object on the first side
  std::int32_t offset_one = -1, offset_two = -1;  // offsets in bytes; -1 if unknown
  std::int32_t line_one = -1, line_two = -1;      // source lines; -1 if unknown
  std::string one, two;                           // descriptions of the effects of both sides at the place
};

// A value that the argument `two` of `prove` still holds at an effect, although the argument `one` has released the
// value.
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
  bool same_effects = false;  // true if both sides have the same effects, apart from life times
  std::int64_t steps = 0;     // the steps through the code that the proof took; 0 if `prove` succeeds
  std::string reason;         // the reason why the code objects are not proved equivalent; empty if they are
  ProofPlace where;           // meaningless if the code objects are proved equivalent
  // The nested code objects that correspond to each other, if the effects are the same. A pair holds the index of a
  // nested code object in the constants of `one`, and the index of the corresponding code object in the constants of
  // `two`. Nested code that only unreachable code loads is in no pair.
  std::vector<std::pair<std::int32_t, std::int32_t>> nested = {};
  // The values that `two` holds longer than `one`, in the order of the code of `two`. The list of kept values is
  // complete if `one` and `two` have the same effects.
  std::vector<KeptValue> kept;
};

// The facts that a proof may rely on, and whether life times are part of the proof.
struct ProofOptions {
  bool lifetimes = true;
  // True to list the values that `two` holds longer than `one`; a proof with `lifetimes` needs the list.
  bool list_kept = true;
  // Selects whether a quick proof is tried before the full walk through the paths of both code objects, or in place of
  // the full walk. The quick proof knows fewer rules than the full walk, and does not compare life times.
  enum class Lockstep : std::uint8_t { never, first, only };
  Lockstep lockstep = Lockstep::never;
  // The largest number of steps of the full walk through one pair of code objects. The full walk also has a limit that
  // grows with the size of the code. If `steps` is negative, only the limit that grows with the size applies.
  std::int64_t steps = -1;
  // True if the code runs only under a frame evaluation function (PEP 523), such as Dynamo's. Under a frame evaluation
  // function CPython does not inline calls of Python functions, so the operands of a call stay on the caller's value
  // stack until the call returns.
  bool calls_keep_operands = false;
  // The names of globals that are known to exist and to keep their values, so that loading the globals is not an
  // effect.
  std::set<std::string, std::less<>> installed;
  // Maps each function in `installed` that returns a fresh tuple or list to the number of the items in the tuple or
  // list.
  std::map<std::string, int, std::less<>> outputs;
};

// Proves that a program that runs `two` in place of `one` cannot observe the difference, unless the program looks at
// bytecode or at positions in tracebacks. Both code objects, and the code objects nested in them, must have the same
// effects in the same order on equal operands. The names of the two outermost code objects are not compared. The proof
// always ends; code objects whose equality it cannot decide count as not proved.
//
// The life times of values are part of the proof if `options.lifetimes` is set. At each effect that can run other code
// or allocate memory, `one` must hold every value that `two` holds. A value is held in a local, a cell, the value
// stack, or a container that only the frame has. During a call or a yield, the frame does not hold the operands, which
// are passed to the callee or the caller (see `calls_keep_operands`). The life times of constants, booleans and
// `installed` globals are not compared.
//
// The proof ignores the life times of values that `two` releases earlier than `one`. The proof also ignores the life
// time of a container that only one of the two code objects puts around values, if both code objects hold the values.
// In exception handlers that can only raise, no life times are compared, because the traceback keeps the frame's locals
// alive.
//
// The proof ignores two choices of CPython's compiler: up to 3.11, a jump may test a value a second time, and a tuple
// of constants may be one constant or be built at run time. The proof assumes that other code reads a frame's locals
// only if the frame's code names `locals`, `sys._getframe` or the like.
Proof prove(const CodeObject& one, const CodeObject& two, const ProofOptions& options = {});

}  // namespace depyf
