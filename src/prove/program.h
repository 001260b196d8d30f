// Prepares a code object for the prover.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "decode/instruction.h"
#include "depyf/constant.h"
#include "depyf/prove.h"
#include "dialect/dialect.h"
#include "prove/state.h"
#include "support/result.h"

namespace depyf {

// A decoded code object, with the facts about each instruction and name that the prover needs.
struct Program {
  DecodedCode decoded;
  std::vector<int> handler_of;   // for each instruction: the index of its protected range, or -1
  std::vector<bool> meets;       // for each instruction: whether it is the target of a jump or a handler
  std::vector<bool> may_return;  // for each instruction: whether a return or yield can follow, not only an exception
  std::vector<Symbol> constants, names;
  std::vector<Symbol> installed;  // for each name: the value of a global that keeps its value, or null
  std::map<Symbol, int> outputs;  // for values in `installed`: number of items that a call returns; see ProofOptions
  // The indices of the instructions that store `__firstlineno__` and `__static_attributes__` in a class body; -1 if
  // there is none.
  int stores_line = -1, stores_attributes = -1;
  bool watched = false;  // true if the code may get hold of its own frame, and look at its locals at any time
  int size = 0;
  std::int32_t stack_size = 0;  // the code object's `co_stacksize`

  Version other;  // the version of the other side's code

  // Returns true if a fact holds for the version of one side only. The callers use `across` to bring the code of two
  // different versions into one form; for equal versions they compare the exact forms.
  bool across(bool Dialect::* fact) const { return dialect_of(decoded.version).*fact != dialect_of(other).*fact; }
  bool is_generator() const;
  // Returns the qualified name, or the name where code of the version has no qualified names.
  const std::string& name() const;
  const CodeObject& code() const { return *decoded.code; }
  // Returns the version whose instructions the code has, which is 3.14 for code of 3.15: its iterators, which take two
  // stack values, have been rewritten to take one.
  Version version() const { return std::min(decoded.version, one_iterator_version); }
  const Dialect& dialect() const { return dialect_of(version()); }
  bool has_table() const { return dialect().exception_table; }
};

// Prepares `code`. `decoded` holds the instructions of `code`, in which the two values of an iterator (3.15) have been
// united.
Result<Program> make_program(const CodeObject& code, const DecodedCode& decoded, Symbols& symbols,
                             const ProofOptions& options);

// A MATCH_CLASS of 3.10 leaves the subject on the stack if the subject does not match; later versions leave None. Returns
// false if `at` is a MATCH_CLASS of 3.10 and an instruction other than POP_TOP uses this subject.
bool drops_unmatched_subject(const DecodedCode& decoded, int at);

// Returns the state of one side at the start of its frame. Arguments and free variables are the same symbols on both
// sides.
Side start_of(const Program& program, Symbols& symbols);

// Returns a message about the first property of the function header, such as its arguments or flags, in which two code
// objects differ; an empty string if they are equal. Names are compared only for nested code objects.
std::string header_difference(const CodeObject& one, const CodeObject& two, bool outermost);

}  // namespace depyf
