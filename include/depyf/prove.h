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
  std::string function;                           // qualified name of the code object, of the first side
  std::int32_t offset_one = -1, offset_two = -1;  // in bytes; -1 if there is no place in the bytecode
  std::int32_t line_one = -1, line_two = -1;      // of the source
  std::string one, two;                           // what each side does at that place, in words
};

// A value that the second side still holds at an effect, although the first side has released it.
struct KeptValue {
  std::string function;         // qualified name of the code object, of the second side
  std::int32_t offset = -1;  // of the effect, in bytes, on the second side
  std::int32_t line = -1;    // of the effect, in the source of the second side
  std::string local;         // the variable that holds the value; empty if the value stack holds it
  std::string value;         // a description of the value
  std::string effect;        // a description of the code that runs meanwhile
  bool outermost = true;     // false if the place is in nested code
};

// The result of `prove`.
struct Proof {
  bool proved = false;
  bool same_effects = false;  // whether `two` does what `one` does, apart from life times
  std::int64_t steps = 0;     // the steps of the last walked pair of code objects
  std::string reason;         // why the code objects are not proved equivalent; empty if they are
  ProofPlace where;           // meaningless if the code objects are proved equivalent
  // The nested code objects that correspond to each other, if the effects are the same. A pair holds the index in the
  // constants of the first side and the index in those of the second. Code that no execution reaches has no entry.
  std::vector<std::pair<std::int32_t, std::int32_t>> nested = {};
  // Complete if the effects are the same; in the order of the second side's code.
  std::vector<KeptValue> kept;
};

// The facts that a proof may rely on, and whether life times are part of the proof.
struct ProofOptions {
  bool lifetimes = true;
  // Whether to list the values that the second side keeps too long; `lifetimes` needs the list.
  bool list_kept = true;
  // Whether to try a quick proof before the walk, or instead of it. The quick proof knows fewer rules, and does not
  // compare life times.
  enum class Lockstep : std::uint8_t { never, first, only };
  Lockstep lockstep = Lockstep::never;
  // The number of steps that one pair of code objects may take. A negative number means as many as the size of the code
  // suggests.
  std::int64_t steps = -1;
  // True if the code runs only under a frame evaluation function (PEP 523), such as Dynamo's. CPython then runs no call
  // within the calling frame, so the operands of a call stay on the value stack until it returns.
  bool calls_keep_operands = false;
  // Names of globals that are known to exist and to keep their values, so that loading them is no effect.
  std::set<std::string, std::less<>> installed;
  // The names among `installed` of functions that return a fresh tuple or list, with the number of its items.
  std::map<std::string, int, std::less<>> outputs;
};

// Proves that `two` does what `one` does, as far as any program can observe without looking at bytecode or at positions
// in tracebacks. Both must have the same effects in the same order on equal operands, including nested code. The
// outermost names are not compared. The proof always ends; a question that it cannot decide counts as not proved.
//
// Life times are part of the proof. At each effect that can run other code or allocate memory, `one` must hold every
// value that `two` holds. A value is held in a local, a cell, the value stack, or a container that only the frame has.
// A call gives its operands away to the callee, and a yield gives its operand to the caller, so the frame does not hold
// them (see `calls_keep_operands`). Constants, booleans and `installed` globals do not count.
//
// Some life times are not compared: values that `two` releases earlier, and containers that only one side puts around
// values that both hold. Values are not compared either when an exception is certain to leave the frame, in handlers
// that can only raise. The traceback keeps the frame's locals alive in this case.
//
// Two choices of CPython's compiler count as equal. A jump may test a value again that the jump before it has tested
// (until 3.11). A tuple of constants may be a constant or built at run time. Only code that names locals(),
// sys._getframe() or the like is assumed to look at a frame's locals from outside.
Proof prove(const CodeObject& one, const CodeObject& two, const ProofOptions& options = {});

}  // namespace depyf
