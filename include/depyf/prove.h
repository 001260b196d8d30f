// Equivalence of two code objects.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "depyf/code_object.h"

namespace depyf {

// Where two code objects part: the first effect, in the order of execution, that differs.
struct ProofPlace {
  std::string function;                      // qualified name of the code object, of the first side
  std::int32_t offset_one = -1, offset_two = -1;  // in bytes; -1: no place in the bytecode
  std::int32_t line_one = -1, line_two = -1;      // of the source
  std::string one, two;                      // what either side does there, in words
};

struct Proof {
  bool proved = false;
  std::string reason;  // why it is not proved; empty where it is
  ProofPlace where;    // meaningless where it is
  // Where it is proved: the code objects among the constants that take each other's part, as (index in the constants of
  // the first side, index in those of the second). Code that no execution reaches has no part.
  std::vector<std::pair<std::int32_t, std::int32_t>> nested = {};
};

// Whether `two` does what `one` does, as far as any program can tell without looking at bytecode, tracebacks' positions
// or the life time of objects: the same effects in the same order on equal operands, nested code included. The
// outermost names are not compared. Always ends; what cannot be decided is not proved.
// Taken for the same, as CPython's compiler chooses between them: a value that is asked for its truth by a jump and again
// by the jump where that leads (to 3.11), and a tuple of constants that is one or built. Nobody but code that names
// locals(), sys._getframe() or the like is taken to look at a frame's locals from outside.
Proof prove(const CodeObject& one, const CodeObject& two);

}  // namespace depyf
