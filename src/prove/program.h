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

// A decoded code object, with the facts that the prover asks of each instruction and name.
struct Program {
  DecodedCode decoded;
  std::vector<int> handler_of;   // for each instruction: the index of its protected range, or -1
  std::vector<bool> meets;       // for each instruction: whether jumps or handlers lead there
  std::vector<bool> may_return;  // for each instruction: whether a return or yield can follow, not only an exception
  std::vector<Symbol> constants, names;
  std::vector<Symbol> installed;  // for each name: the value of a global that keeps its value, or null
  std::map<Symbol, int> outputs;  // for such a value: the number of items that a call of it returns; see ProofOptions
  // The instructions that store class details: the line, and names of attributes in no defined order. -1 if there is no
  // such store.
  int stores_line = -1, stores_attributes = -1;
  bool watched = false;  // true if the code may get hold of its own frame, and look at its locals at any time
  int size = 0;
  std::int32_t stack_size = 0;  // as the code object states it

  Version other;  // the version of the other side's code

  // Returns true if a fact holds for the version of one side only. Where the versions do the same thing in different
  // ways, both sides get one form. Between equal versions each side keeps its own form, which tells more apart.
  bool across(bool Dialect::* fact) const { return dialect_of(decoded.version).*fact != dialect_of(other).*fact; }
  bool is_generator() const;
  // Returns the qualified name, or the name where code of the version has no qualified names.
  const std::string& name() const;
  const CodeObject& code() const { return *decoded.code; }
  // Returns the version whose instructions the code has. The two values that an iterator takes in 3.15 have been united
  // into one.
  Version version() const { return std::min(decoded.version, one_iterator_version); }
  const Dialect& dialect() const { return dialect_of(version()); }
  bool has_table() const { return dialect().exception_table; }
};

// Prepares `code`. `decoded` holds its instructions, in which the two values of an iterator (3.15) have been united.
Result<Program> make_program(const CodeObject& code, const DecodedCode& decoded, Symbols& symbols,
                             const ProofOptions& options);

// MATCH_CLASS of 3.10 leaves the subject on the stack where it does not match, and that of 3.11 and later leaves None.
// Returns true if nothing but POP_TOP finds that subject, and for all other instructions.
bool drops_unmatched_subject(const DecodedCode& decoded, int at);

// Returns the state of one side at the start of its frame. Arguments and free variables are the same symbols on both
// sides.
Side start_of(const Program& program, Symbols& symbols);

// Returns which property that callers can observe differs between two code objects, apart from what they do; an empty
// string if none differs. Names count only if the code objects are not the outermost ones.
std::string header_difference(const CodeObject& one, const CodeObject& two, bool outermost);

}  // namespace depyf
