// The symbolic execution behind pattern_parser.h; its members are spread over pattern_parser.cpp (driver, alternatives),
// pattern_steps.cpp (single instructions) and pattern_checks.cpp (the finished tree).
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "decode/op.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "flow/pattern_parser.h"
#include "support/search_limits.h"

namespace depyf {

class PatternExecution {
 public:
  PatternExecution(const DecodedCode& decoded, const std::vector<Instruction>& code) : decoded_(decoded), code_(code) {}
  bool run(int at, bool keeps, ParsedCase& parsed);

 private:
  friend class PatternCursor;
  friend class PartsStep;
  friend class PatternStep;
  using Kind = PatternNode::Kind;

  struct Value {
    enum class Is {
      node,  // a part of the subject
      parts,  // the tuple of a class pattern's or mapping's values
      keys,  // of a mapping; a single key
      length,  // of a sequence or mapping
      from_end,  // an index into a sequence: its length minus `number`
      rest,  // copy of a mapping
      constant,  // loaded at `begin`
      expression,  // [begin, end)
      test  // true where the pattern fits; where it does not if `number` is 1
    };
    Is is = Is::node;
    int node = -1, begin = 0, end = 0, number = 0;
  };

  struct Failure {
    int target, depth;
  };

  struct State {
    std::vector<Value> stack;
    std::vector<Failure> failures;
    bool stored = false;
  };
  using Names = std::set<std::pair<Op, int>>;

  int size() const { return int(code_.size()); }
  static Value part(int node) { return {Value::Is::node, node}; }
  int skip(int at) const {
    while (at < size() - 1 && code_[at].op == Op::nop_) ++at;
    return at;
  }
  int follow(int at) const {
    for (int steps = 0; steps < search_limits::jump_chain && at >= 0 && at < size(); ++steps) {
      at = skip(at);
      if (code_[at].op != Op::jump_ || code_[at].target < 0) break;
      at = code_[at].target;
    }
    return at;
  }
  int fresh() {
    nodes_.emplace_back();
    return int(nodes_.size()) - 1;
  }
  bool plain(int node) const { return nodes_[node].kind == Kind::wildcard && nodes_[node].stores.empty(); }
  bool tests_are_pushed() const { return dialect_of(decoded_.code->version).pushed_pattern_tests; }

  // pattern_parser.cpp
  bool same_end(int one, int two) const;
  bool resolve(const std::vector<Failure>& failures, int depth, int& found) const;
  int walk(int at, State& state, int floor);
  bool ends_alternative(int at, const State& state, int floor) const;
  int alternatives(int at, State& state);
  int try_alternatives(int at, State& state);

  // pattern_steps.cpp
  int step(int at, State& state);

  // pattern_checks.cpp
  bool finish(int index);
  bool check(int index, Names& names) const;
  bool matches_always(int index) const;

  const DecodedCode& decoded_;
  const std::vector<Instruction>& code_;
  std::vector<PatternNode> nodes_;
  int steps_ = 0, nesting_ = 0;
};

}  // namespace depyf
