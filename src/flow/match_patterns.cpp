// Finds the match statements. The code of a match statement tests one case after the other. `match s:` with the cases
// `case p:`, `case q:` and `case _:` compiles to the following code.
//
//   The code of `match s:` and `case p:` is <s>; COPY 1; <tests of p>; [<guard>;] POP_TOP; <body>; JUMP end.
//   A test of p that fails jumps into a row of POP_TOP, which pops the values that the tests of p have pushed.
//   A guard that fails jumps to the next case, which lies behind the row of POP_TOP for failed tests of p.
//   The code of `case q:` is <tests of q>; <body>, and consumes the subject, since q is the last case before `case _`.
//   The code of `case _:` is <body>, behind the row of POP_TOP into which a failed test of q jumps.
#include "flow/match_patterns.h"

#include <algorithm>

#include "decode/decode.h"
#include "decode/op.h"
#include "decode/op_table.h"
#include "flow/exception_regions.h"
#include "flow/guarded_wildcards.h"
#include "flow/pattern_parser.h"
#include "flow/search.h"
#include "support/table.h"

namespace depyf {
namespace {

// Finds match statements by their first case, and rewrites the statements of which all cases can be parsed.
class MatchFinder {
 public:
  MatchFinder(const DecodedCode& decoded, Row<Instruction, InstructionIndex> code, Table<CasePattern>& patterns)
      : decoded_(decoded), code_(code), patterns_(patterns) {}

  void run() {
    // The code of a case starts with one of these operations, or with the load of a class in front of MATCH_CLASS.
    static constexpr OpTable<bool> case_starts(
        false, {{{Op::copy_, Op::match_sequence_, Op::match_mapping_, Op::match_class_}, true}});
    for_each_marked(code_, case_starts, [&](int at) {
      const Op op = code_[at].op;
      if (op == Op::copy_ && code_[at].arg != 1) return;
      if (!taken_.empty() && taken_[at]) return;
      statement(op == Op::match_class_ ? class_start(at) : at);
    });
  }

 private:
  // One case of a match statement. `keeps` is true if the case tests a copy of the subject, so that the subject stays
  // on the stack for the next case.
  struct Case {
    ParsedCase parsed;
    bool keeps;
  };

  int size() const { return int(code_.size()); }
  // Returns the first instruction from `at` that is not a NOP.
  int skip(int at) const {
    while (at < size() - 1 && code_[at].op == Op::nop_) ++at;
    return at;
  }
  // Returns the last instruction in front of `at` that is not a NOP, or 0 if only NOPs precede `at`.
  int before(int at) const {
    do --at;
    while (at > 0 && code_[at].op == Op::nop_);
    return at;
  }

  // Fills `jumps_` with all jumps, sorted by target.
  void find_jumps() {
    for (int at = 0; at < size(); ++at)
      if (code_[at].target >= 0) jumps_.push_back({code_[at].target, at});
    std::sort(jumps_.begin(), jumps_.end());
  }

  // Returns the first instruction of the class pattern whose MATCH_CLASS is at `at`: LOAD C; [LOAD_ATTR ...];
  // LOAD_CONST; MATCH_CLASS.
  int class_start(int at) const {
    at = before(before(at));
    while (at > 0 && code_[at].op == Op::load_attr_) at = before(at);
    return at;
  }

  // Skips the COPY 1; STORE name at `at` if it belongs to an assignment expression in the subject of a match statement,
  // and returns the first case. `case name if guard:` starts with COPY 1; STORE name, too, but its guard does not use
  // the subject on the stack.
  int behind_assignments(int at) const {
    while (at + 2 < size() && code_[at].op == Op::copy_ && code_[at].arg == 1 &&
           is_store_name(code_[skip(at + 1)].op)) {
      const int next = skip(skip(at + 1) + 1);
      if (code_[next].op == Op::pop_top_ || !uses_subject(next)) break;
      at = next;
    }
    return at;
  }

  // True if an instruction from `at` on, up to the first jump or end, uses the subject, which lies on top of the stack.
  bool uses_subject(int at) const {
    std::int32_t above = 0;  // values on top of the subject
    for (; at < size(); ++at) {
      const Instruction& it = code_[at];
      const StackEffect effect = stack_effect(it, decoded_.version, false);
      const bool reaches = it.op == Op::copy_ || it.op == Op::swap_ ? it.arg > above : effect.pops > above;
      if (reaches || it.target >= 0 || !falls_through(it.op)) return reaches;
      above += effect.pushes - effect.pops;
    }
    return false;
  }

  // Parses the cases of a match statement that starts at `at`, and rewrites the cases if all of them can be parsed and
  // no other code jumps into them.
  void statement(int at) {
    if (at < 0) return;
    at = behind_assignments(at);
    Table<Case> cases;
    for (;;) {
      at = skip(at);
      // A case that consumes the subject is the last case. The only case of a statement must do more than compare the
      // subject with a value, because an `if` compiles to a comparison as well.
      Case one{{}, false};
      if ((!cases.empty() || code_[at].op != Op::pop_top_) && parse_case(decoded_, code_, at, false, one.parsed) &&
          (!cases.empty() || is_match(one))) {
        cases.push_back(std::move(one));
        break;
      }
      one = {{}, true};
      if (code_[at].op != Op::copy_ || code_[at].arg != 1 || !parse_case(decoded_, code_, at, true, one.parsed)) break;
      // A guard follows unless POP_TOP pops the subject at once.
      one.parsed.pattern.guard = code_[skip(one.parsed.success)].op != Op::pop_top_;
      if (one.parsed.failure < 0) one.parsed.failure = case_after_guard(decoded_, code_, one.parsed.success);
      at = one.parsed.failure;
      bool further = at > one.parsed.begin;
      cases.push_back(std::move(one));
      if (!further) break;
    }
    if (cases.empty()) return;
    if (taken_.empty()) taken_.assign(code_.size(), false), find_jumps();
    bool whole = !cases.back().keeps &&
                 std::all_of(cases.begin(), cases.end(), [&](const Case& one) { return separate(one.parsed); });
    for (Case& one : cases) {
      if (whole) rewrite(one);
      // A match statement that starts at a case of a rejected statement would be rejected as well, so the case is
      // marked as taken.
      else taken_[one.parsed.begin] = true;
    }
  }

  // True if the case has a pattern that no other statement compiles to.
  static bool is_match(const Case& one) {
    const PatternNode& whole = one.parsed.pattern.nodes[0];
    if (one.parsed.failure < 0) return whole.kind == PatternNode::Kind::alternatives;
    bool simple = whole.kind == PatternNode::Kind::value || whole.kind == PatternNode::Kind::singleton;
    return whole.kind != PatternNode::Kind::wildcard && (!simple || !whole.stores.empty());
  }

  // True if no instruction outside of the case jumps to an instruction between the first test and the body of the case.
  bool separate(const ParsedCase& parsed) const {
    if (parsed.success <= parsed.begin || parsed.failure == parsed.begin + 1) return false;
    auto jump = std::upper_bound(jumps_.begin(), jumps_.end(), std::pair(parsed.begin, size()));
    for (; jump != jumps_.end() && jump->first < parsed.success; ++jump)
      if (jump->second < parsed.begin || jump->second >= parsed.success) return false;
    return true;
  }

  // Replaces the first instruction of the tests of a case by match_case, and the second instruction by a jump behind
  // the tests. The remaining instructions of the tests stay in the code, because a copy of a short exit of the
  // function, which runs if no alternative matches, may lie between two tests.
  void rewrite(Case& one) {
    for (int at = one.parsed.begin; at < one.parsed.success; ++at) taken_[at] = true;
    Instruction& test = code_[one.parsed.begin];
    test.op = Op::match_case_, test.arg = int(patterns_.size()), test.aux = one.keeps, test.target = one.parsed.failure;
    if (one.parsed.success > one.parsed.begin + 1) {
      Instruction& jump = code_[one.parsed.begin + 1];
      jump.op = Op::jump_, jump.arg = jump.aux = 0, jump.target = one.parsed.success;
    }
    patterns_.push_back(std::move(one.parsed.pattern));
  }

  const DecodedCode& decoded_;
  const Row<Instruction, InstructionIndex> code_;
  Table<CasePattern>& patterns_;
  Table<bool> taken_;  // true for the instructions of rewritten cases and for the starts of rejected cases
  Table<std::pair<int, int>> jumps_;  // pairs of target and source, sorted
};

}  // namespace

namespace {

// Compares two patterns by the instructions that they were read from.
class PatternComparison {
 public:
  explicit PatternComparison(const DecodedCode& decoded) : code_(decoded.instructions) {}

  bool same(const PatternNode& one, const PatternNode& two) const {
    return one.kind == two.kind && one.children == two.children && one.star == two.star &&
           one.positional == two.positional && one.dropped == two.dropped && same(one.constant, two.constant) &&
           same(one.keys_constant, two.keys_constant) && same(one.rest, two.rest) &&
           same(one.expression, two.expression) && same_each(one.stores, two.stores) && same_each(one.keys, two.keys);
  }

 private:
  using Range = std::pair<int, int>;

  // True if the instructions with the indices `one` and `two` are equal; -1 equals only -1.
  bool same(int one, int two) const {
    if (one < 0 || two < 0) return one == two;
    const Instruction &a = code_[std::size_t(one)], &b = code_[std::size_t(two)];
    return a.op == b.op && a.arg == b.arg && a.aux == b.aux && (a.target < 0) == (b.target < 0);
  }

  bool same(const Range& one, const Range& two) const {
    if (one.second - one.first != two.second - two.first) return false;
    for (int at = one.first, other = two.first; at < one.second; ++at, ++other)
      if (!same(at, other)) return false;
    return true;
  }

  template <class Item>
  bool same_each(const Table<Item>& one, const Table<Item>& two) const {
    return std::equal(one.begin(), one.end(), two.begin(), two.end(),
                      [&](const Item& a, const Item& b) { return same(a, b); });
  }

  const Instructions& code_;
};

}  // namespace

bool same_pattern(const DecodedCode& decoded, const CasePattern& one, const CasePattern& two) {
  const PatternComparison comparison(decoded);
  return one.guard == two.guard &&
         std::equal(one.nodes.begin(), one.nodes.end(), two.nodes.begin(), two.nodes.end(),
                    [&](const PatternNode& a, const PatternNode& b) { return comparison.same(a, b); });
}

void find_matches(const DecodedCode& decoded, Row<Instruction, InstructionIndex> code, Table<CasePattern>& patterns) {
  MatchFinder(decoded, code, patterns).run();
}

}  // namespace depyf
