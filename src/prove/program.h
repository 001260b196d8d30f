// A code object made ready for the prover.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "decode/instruction.h"
#include "depyf/code_object.h"
#include "depyf/prove.h"
#include "dialect/dialect.h"
#include "prove/state.h"
#include "support/result.h"

namespace depyf {

struct Program {
  DecodedCode decoded;
  std::vector<int> handler_of;   // by instruction: index of its range, or -1
  std::vector<bool> meets;       // by instruction: jumps or handlers lead there
  std::vector<bool> may_return;  // by instruction: can a return or a yield follow? Else an exception leaves the frame
  std::vector<Symbol> constants, names;
  std::vector<Symbol> installed;  // by name: the value of a global that is there and keeps its value, or null
  std::map<Symbol, int> outputs;  // by such a value: how many items its result has; see ProofOptions
  // From 3.13 on: where the compiler has a class body store what it says of its own source: the line, and names in an
  // order that is no order. A program may store to the same names: later to the one, earlier to the other. -1: nowhere.
  int stores_line = -1, stores_attributes = -1;
  bool watched = false;  // may the code get hold of its own frame, and look at its locals at any time?
  int size = 0;

  Version other;  // of the code on the other side

  // Is a fact true of the version of one side only? Where so, and it means the same, both
  // are given one form; else each keeps its own, in which more can be told apart.
  bool across(bool Dialect::* fact) const { return dialect_of(decoded.code->version).*fact != dialect_of(other).*fact; }
  bool is_generator() const {
    return code().flags & (CodeObject::generator | CodeObject::coroutine | CodeObject::async_generator);
  }
  const CodeObject& code() const { return *decoded.code; }
  // What the instructions are like: the two values that an iterator is in 3.15 have become one.
  Version version() const { return std::min(decoded.code->version, one_iterator_version); }
  const Dialect& dialect() const { return dialect_of(version()); }
  bool has_table() const { return dialect().exception_table; }  // of exceptions, in place of a block stack
};

// `decoded` is of `code`, with the two values of an iterator of 3.15 united.
Result<Program> make_program(const CodeObject& code, Result<DecodedCode> decoded, Symbols& symbols,
                             const ProofOptions& options);

// The state of one side where the frame starts. Arguments and free variables are the same symbols on both sides.
Side start_of(const Program& program, Symbols& symbols);

// What differs in what callers see of two code objects beside what they do; empty: nothing.
std::string header_difference(const CodeObject& one, const CodeObject& two, bool outermost);

}  // namespace depyf
