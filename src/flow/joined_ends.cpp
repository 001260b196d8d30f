// Finds the copies of a function's end that follow a test within one expression or statement. Before 3.10, the copies
// lie behind the branches of a conditional expression that is returned. From 3.10 on, the copies lie behind the two
// operands of the statement `a or b`.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "decode/decode.h"
#include "decode/op.h"
#include "dialect/dialect.h"
#include "flow/exception_regions.h"
#include "support/search_limits.h"

namespace depyf {
namespace {

// The maximum number of instructions of one end of a function that are compared with those of another end. If the
// instructions of an end have no line, CPython copies the end regardless of its length.
constexpr int longest_rest = 64;

class JoinedEnds {
 public:
  JoinedEnds(const Cfg& cfg, const Flow& flow, const Table<char>& reachable, const DecodedCode& decoded)
      : code_(cfg.code),
        cfg_(cfg),
        version_(decoded.version),
        is_lambda_(decoded.name == "<lambda>"),
        flow_(flow),
        reachable_(reachable),
        count_(int(code_.size())) {}

  void run(Originals& original) const {
    // `cfg_.ops` contains the operations of the code before `simplify_idioms`, which may turn COPY instructions into
    // tests of `and` and `or`.
    if (cfg_.ops.has<Op::copy_, Op::jump_if_true_or_pop_, Op::jump_if_false_or_pop_>()) join_behind_tests(original);
    if (is_lambda_) join_returns_of_lambda(original);
    else if (!dialect_of(version_).copied_exits) join_returns_on_lines(original);
  }

 private:
  // Joins the copies of the function's end that lie behind the tests of `and` and `or`.
  void join_behind_tests(Originals& original) const {
    constexpr OpSet keeping_tests = {Op::jump_if_true_or_pop_, Op::jump_if_false_or_pop_};
    for (const InstructionIndex at : flow_.jumps) {
      if (!keeping_tests.has(code_[at].op) || !reachable_[at]) continue;
      if (dialect_of(version_).copied_exits) join_statement(at, original);
      else join_returns(at, original);
    }
  }

  void add_copy(Originals& original, int at, int kept) const {
    if (original.empty()) original.assign(code_.size() + 1, -1);
    original[at] = kept;
  }
  static bool is_copy(const Originals& original, int at) { return !original.empty() && original[at] >= 0; }

  // Joins the returns of one conditional expression. Before 3.10, each branch of a conditional expression that is
  // returned ends in a RETURN_VALUE of its own, which has the line of the jump that it replaced. If a
  // JUMP_IF_FALSE_OR_POP leads to the last RETURN_VALUE, only code of the expression lies between the two instructions.
  // For example, `return a and (b if c else d)` compiles to:
  //
  //  <a>; JUMP_IF_FALSE_OR_POP L; <c>; POP_JUMP_IF_FALSE E; <b>; RETURN_VALUE; E: <d>; L: RETURN_VALUE.
  void join_returns(int jump, Originals& original) const {
    int kept = code_[jump].target;
    while (kept + 1 < count_ && code_[kept].op == Op::nop_) ++kept;
    if (kept <= jump || code_[kept].op != Op::return_value_) return;
    if (is_copy(original, kept)) return;
    for (int at = jump + 1; at < kept; ++at) {
      if (!reachable_[at] || code_[at].op != Op::return_value_ || cfg_.region_of[at] != cfg_.region_of[kept]) continue;
      add_copy(original, at, kept);
    }
  }

  // Joins the returns of a conditional expression on several lines. The last RETURN_VALUE has the line of the word
  // `return`, which lies above the lines of the returned value. Every RETURN_VALUE on the lines of the returned value
  // belongs to the same `return` statement as the last RETURN_VALUE. For example, `return (` on line 1 and `c if a else
  // d` on line 2 compile to:
  //
  //  <a> (line 2); POP_JUMP_IF_FALSE E; <c> (line 2); RETURN_VALUE (line 2); E: <d> (line 2); RETURN_VALUE (line 1).
  void join_returns_on_lines(Originals& original) const {
    for (int kept = 1; kept < count_; ++kept) {
      const std::int32_t first = code_[kept].line, last = code_[kept - 1].line;
      if (!reachable_[kept] || code_[kept].op != Op::return_value_ || first < 0 || last <= first) continue;
      const int least = std::max(0, kept - search_limits::returned_value);
      for (int at = kept - 1; at > least && code_[at].line > first; --at) {
        const bool is_same = reachable_[at] && code_[at].op == Op::return_value_ && code_[at].line <= last &&
                             cfg_.region_of[at] == cfg_.region_of[kept];
        if (is_same && !is_copy(original, at) && !is_copy(original, kept)) add_copy(original, at, kept);
      }
    }
  }

  // Joins all returns of a lambda, whatever their lines, since a lambda has only one expression to return. For example,
  // `lambda: (a if b else c) if d else e`, with its parts on several lines, compiles to:
  //
  //  <d>; POP_JUMP_IF_FALSE M; <b>; POP_JUMP_IF_FALSE L; <a>; RETURN_VALUE; L: <c>; RETURN_VALUE; M: <e>; RETURN_VALUE.
  void join_returns_of_lambda(Originals& original) const {
    int kept = count_ - 1;
    while (kept > 0 && (!reachable_[kept] || code_[kept].op != Op::return_value_ || is_copy(original, kept))) --kept;
    for (int at = 0; at < kept; ++at)
      if (reachable_[at] && code_[at].op == Op::return_value_ && cfg_.region_of[at] == cfg_.region_of[kept])
        add_copy(original, at, kept);
  }

  // In the statement `a or b or c`, the tests of `a` and of `b` lead to different copies of the function's end. Joins
  // the ends of the function that start at `first` and `last` if the tested operand is the only value on the stack.
  void join_operand(InstructionIndex first, InstructionIndex last, int depth, Originals& original) const {
    while (first + 1 < count_ && code_[first].op == Op::nop_) ++first;
    while (last + 1 < count_ && code_[last].op == Op::nop_) ++last;
    if (depth == 1 && first != last && code_[first].op == Op::pop_top_ && code_[last].op == Op::pop_top_ &&
        cfg_.region_of[first] == cfg_.region_of[last] && same_rest(first, last) && !is_copy(original, last))
      add_copy(original, first, last);
  }

  // Joins the two ends of the statement `a or b`. The POP_TOP that ends the statement has no line, so the compiler may
  // copy the code from the POP_TOP on:
  //
  //  <a>; JUMP_IF_TRUE_OR_POP L; <b>; POP_TOP; <rest>; L: POP_TOP; <rest>.
  void join_statement(int jump, Originals& original) const {
    int kept = code_[jump].target;
    while (kept + 1 < count_ && code_[kept].op == Op::nop_) ++kept;
    if (kept <= jump || code_[kept].op != Op::pop_top_) return;
    // `depth` is the number of values that the code of the second operand of `or` or `and` has pushed on the stack so
    // far. Behind an unconditional jump, `depth` is -1 up to the next jump target within the code of the second
    // operand.
    int depth = 0;
    std::unordered_map<int, int> at_target;
    for (int at = jump + 1; at < kept; ++at) {
      const Instruction& it = code_[at];
      if (const auto found = at_target.find(at); found != at_target.end()) depth = found->second;
      if (it.op == Op::nop_) continue;
      if (depth < 0 || (it.target >= 0 && it.target <= at)) return;
      if (it.target > kept) return join_operand(kept, it.target, depth, original);
      if (it.op == Op::jump_) {
        at_target[it.target] = std::exchange(depth, -1);
        continue;
      }
      if (!falls_through(it.op) || flow_.next[at] <= at) return;
      const StackEffect effect = stack_effect(it, std::max(version_, unwound_version), false);
      if (it.op == Op::pop_top_ && depth == 1) {
        if (cfg_.region_of[at] == cfg_.region_of[kept] && same_rest(at, kept) && !is_copy(original, kept))
          add_copy(original, at, kept);
        return;
      }
      if (it.target >= 0 && it.target < kept) join_operand(it.target, kept, depth, original);
      if (effect.pops > depth) return;
      if (it.target >= 0) {
        const StackEffect jumping = stack_effect(it, std::max(version_, unwound_version), true);
        at_target[it.target] = depth + jumping.pushes - jumping.pops;
      }
      depth += effect.pushes - effect.pops;
      at = flow_.next[at] - 1;
    }
  }

  // True if the instructions from `one` and from `two` on do the same until the function ends, regardless of their
  // lines.
  bool same_rest(int one, int two) const {
    auto plain = [&](int at) {
      for (int steps = 0; steps < longest_rest && at >= 0; ++steps) {
        if (code_[at].op == Op::jump_ && code_[at].target >= 0) at = code_[at].target;
        else if (code_[at].op == Op::nop_) at = flow_.next[at];
        else break;
      }
      return at;
    };
    for (int steps = 0; steps < longest_rest; ++steps) {
      one = plain(one), two = plain(two);
      if (one < 0 || two < 0 || one == two) return one == two;
      const Instruction &a = code_[one], &b = code_[two];
      if (a.op != b.op || a.arg != b.arg || a.aux != b.aux || a.target != b.target) return false;
      if (cfg_.region_of[one] != cfg_.region_of[two]) return false;
      if (leaves_function(a.op)) return true;
      one = flow_.next[one], two = flow_.next[two];
    }
    return false;
  }

  const Row<const Instruction, InstructionIndex> code_;
  const Cfg& cfg_;
  const Version version_;
  const bool is_lambda_;
  const Flow& flow_;
  const Table<char>& reachable_;
  const int count_;  // number of instructions
};

}  // namespace

void join_ends(const Cfg& cfg, const Flow& flow, const Table<char>& reachable, const DecodedCode& decoded,
               Originals& original) {
  JoinedEnds(cfg, flow, reachable, decoded).run(original);
}

}  // namespace depyf
