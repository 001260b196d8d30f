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
  std::vector<int> handler_of;   // for each instruction: the index of its protected range; -1 if it has none
  std::vector<bool> meets;       // for each instruction: true if it is a jump target or the start of a handler
  std::vector<bool> may_return;  // for each instruction: true if a return or yield can follow it
  std::vector<Symbol> constants, names;
  std::vector<Symbol> installed;  // for each name: the value of a global that keeps its value, or null
  std::map<Symbol, int> outputs;  // for values in `installed`: number of items that a call returns; see ProofOptions
  // The indices of the instructions that store `__firstlineno__` and `__static_attributes__` in a class body; -1 if
  // the code has no store to the name.
  int stores_line = -1, stores_attributes = -1;
  bool watched = false;  // true if the code may access its own frame, and read its locals at any time
  int size = 0;
  std::int32_t stack_size = 0;  // the code object's `co_stacksize`

  Version other;  // the version of the code object with which this one is compared

  // Returns true if a fact holds for the version of only one of the two code objects. The callers of `across` bring
  // code of two versions into one form if the result is true, and otherwise compare the exact forms.
  bool across(bool Dialect::* fact) const { return dialect_of(decoded.version).*fact != dialect_of(other).*fact; }
  bool is_generator() const;
  // Returns the qualified name, or the plain name if code objects of the version have no qualified names.
  const std::string& name() const;
  const CodeObject& code() const { return *decoded.code; }
  // Returns the version whose instructions the code has, which is 3.14 for code of 3.15: its iterators, which take two
  // stack values, have been rewritten to take one.
  Version version() const { return std::min(decoded.version, one_iterator_version); }
  const Dialect& dialect() const { return dialect_of(version()); }
  bool has_table() const { return dialect().exception_table; }
};

// Prepares `code`. `decoded` holds the instructions of `code`, in which the two values of an iterator (3.15) have been
// united. Returns an error if `code` claims more arguments than it has locals.
Result<Program> make_program(const CodeObject& code, const DecodedCode& decoded, Symbols& symbols,
                             const ProofOptions& options);

// MATCH_CLASS of 3.10 leaves the subject on the stack if the subject does not match, where later versions leave None.
// Returns false if `at` is a MATCH_CLASS of 3.10 and an instruction other than POP_TOP uses the subject that a failed
// match leaves on the stack.
bool drops_unmatched_subject(const DecodedCode& decoded, int at);

// Returns the frame of one code object at its start. Arguments and free variables have the same symbols in both
// frames.
Side start_of(const Program& program, Symbols& symbols);

// Returns a message about the first property of the function header, such as its arguments or flags, in which two code
// objects differ; an empty string if they are equal. Names are compared only for nested code objects.
std::string header_difference(const CodeObject& one, const CodeObject& two, bool outermost);

}  // namespace depyf
