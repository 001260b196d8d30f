// Symbolic execution of the instructions that test one pattern. The members of PatternExecution are defined in
// pattern_parser.cpp (the driver and alternatives), pattern_steps.cpp (single instructions) and pattern_checks.cpp
// (checks of the finished tree).
#pragma once

#include <set>
#include <utility>

#include "decode/op.h"
#include "dialect/dialect.h"
#include "flow/pattern_parser.h"
#include "support/search_limits.h"
#include "support/table.h"

namespace depyf {

// Builds the tree of one pattern by executing its code along the path on which all tests succeed.
class PatternExecution {
 public:
  PatternExecution(const DecodedCode& decoded, Row<const Instruction, InstructionIndex> code)
      : decoded_(decoded), code_(code) {}
  bool run(int at, bool keeps, ParsedCase& parsed);

 private:
  friend class PatternCursor;
  friend class PartsStep;
  friend class PatternStep;
  using Kind = PatternNode::Kind;

  // A symbol for one value on the operand stack.
  struct Value {
    enum class Is {
      node,  // a part of the subject
      parts,  // the tuple that MATCH_CLASS or MATCH_KEYS pushed
      // The tuple of keys of a mapping pattern or, after UNPACK_SEQUENCE, one of the keys.
      keys,
      length,  // the length of a sequence or mapping
      // An index into a sequence that is counted from the end: the length of the sequence minus `number`.
      from_end,
      rest,  // a copy of a mapping: the dict for `**rest`
      constant,  // a constant, loaded at instruction `begin`
      expression,  // the value of instructions [begin, end)
      // The result of a test. If `number` is 0, the pattern matches if the result is true; if `number` is 1, the
      // pattern matches if the result is false.
      test
    };
    Is is = Is::node;
    int node = -1, begin = 0, end = 0, number = 0;
  };

  // The jump of a failed test: its target, and the depth of the stack at the target.
  struct Failure {
    int target, depth;
  };

  // The symbols on the stack, the jumps of failed tests so far, and whether a name was stored.
  struct State {
    Table<Value> stack;
    Table<Failure> failures;
    bool stored = false;
  };
  // The variables that a pattern binds: the store operation and its argument.
  using Names = std::set<std::pair<Op, int>>;

  int size() const { return int(code_.size()); }
  static Value part(int node) { return {Value::Is::node, node}; }
  // Returns the first instruction from `at` that is not a NOP.
  int skip(int at) const {
    while (at < size() - 1 && code_[at].op == Op::nop_) ++at;
    return at;
  }
  // Returns the instruction that control reaches from `at` through NOPs and jumps.
  int follow(int at) const {
    for (int steps = 0; steps < search_limits::jump_chain && at >= 0 && at < size(); ++steps) {
      at = skip(at);
      if (code_[at].op != Op::jump_ || code_[at].target < 0) break;
      at = code_[at].target;
    }
    return at;
  }
  // Adds a wildcard node to the tree and returns its index.
  int fresh() {
    nodes_.emplace_back();
    return int(nodes_.size()) - 1;
  }
  // True if `node` has no test and no name yet.
  bool plain(int node) const { return nodes_[node].kind == Kind::wildcard && nodes_[node].stores.empty(); }
  bool tests_are_pushed() const { return dialect_of(decoded_.version).pushed_pattern_tests; }

  // The following functions are defined in pattern_parser.cpp.
  bool same_end(int one, int two) const;
  bool resolve(const Table<Failure>& failures, int depth, int& found) const;
  int walk(int at, State& state, int floor);
  bool ends_alternative(int at, const State& state, int floor) const;
  int alternatives(int at, State& state);
  int try_alternatives(int at, State& state);

  // The following function is defined in pattern_steps.cpp.
  int step(int at, State& state);

  // The following functions are defined in pattern_checks.cpp.
  bool finish(int index);
  bool check(int index, Names& names) const;
  bool matches_always(int index) const;

  const DecodedCode& decoded_;
  const Row<const Instruction, InstructionIndex> code_;
  Table<PatternNode> nodes_;
  int steps_ = 0, nesting_ = 0;
};

}  // namespace depyf
