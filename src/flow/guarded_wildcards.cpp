// Restores the instructions of `case _ if g:` that compilers leave out from 3.12 on. `match s:` with the cases
// `case _ if g:` and `case q:` compiles to the following code. Only versions to 3.11 have the instructions in brackets.
//
//   <s>; [COPY 1; POP_TOP;] <g>; POP_JUMP_IF_FALSE next_case; POP_TOP; <body>; next_case: <code of `case q:`>.
//
// If a POP_TOP right behind a test pops a value that lay below the tested value, the popped value is either the subject
// of `case _ if g:` or the iterator of a loop (`if g: break`). Whether the popped value is a subject or an iterator is
// decided by the instruction that pushed it.
#include "flow/guarded_wildcards.h"

#include <algorithm>
#include <map>
#include <set>

#include "decode/decode.h"
#include "decode/op.h"
#include "decode/op_info.h"
#include "decode/op_table.h"
#include "dialect/dialect.h"
#include "flow/exception_regions.h"
#include "flow/pattern_parser.h"
#include "support/search_limits.h"
#include "support/table.h"

namespace depyf {

// The guard ends at the first POP_TOP at which the stack has the same depth as at the start of the guard.
int case_after_guard(const DecodedCode& decoded, Row<const Instruction, InstructionIndex> code, int guard) {
  const int size = int(code.size());
  Table<std::pair<int, int>> todo{{guard, 0}};
  std::set<int> seen;
  int pop = size;
  while (!todo.empty() && seen.size() < search_limits::guard_instructions) {
    auto [at, depth] = todo.back();
    todo.pop_back();
    if (at < guard || at >= size || depth < 0 || !seen.insert(at).second) continue;
    const Instruction& instruction = code[at];
    if (instruction.op == Op::pop_top_ && depth == 0) {
      pop = std::min(pop, at);
      continue;
    }
    auto change = [&](bool jump) {
      StackEffect effect = stack_effect(instruction, decoded.version, jump);
      return depth - int(effect.pops) + int(effect.pushes);
    };
    if (instruction.target >= 0) todo.push_back({instruction.target, change(true)});
    if (falls_through(instruction.op)) todo.push_back({at + 1, change(false)});
  }
  // All jumps out of the guard must lead to the same instruction behind the POP_TOP that ends the guard.
  int found = -1;
  for (int at : seen) {
    const int target = code[at].target;
    if (at >= pop || target <= pop || pop >= size) continue;
    if (found >= 0 && found != target) return -1;
    found = target;
  }
  return found;
}

namespace {

class Wildcards {
 public:
  Wildcards(DecodedCode& decoded, const Jumps& jumps) : decoded_(decoded), code_(decoded.instructions), jumps_(jumps) {}

  // Returns true if instructions were inserted.
  bool run() {
    if (!has_candidates()) return false;
    find_subjects();
    for (int start : starts_) statement(start);
    if (!places_.empty()) insert();
    return !places_.empty();
  }

 private:
  // For each value on the stack: the instruction that pushed it, or -1 if the value is no result of an expression, such
  // as an iterator.
  using Stack = Table<int>;

  int size() const { return int(code_.size()); }
  int skip(int at) const {
    while (at < size() - 1 && code_[at].op == Op::nop_) ++at;
    return at;
  }
  // Returns the last instruction in front of `at` that is not a NOP; 0 if only NOPs precede `at`, or -1 if `at` is 0.
  int before(int at) const {
    do --at;
    while (at > 0 && code_[at].op == Op::nop_);
    return at;
  }
  // True if `at` is a POP_TOP right behind a conditional jump, and pops a value that lay below the tested value.
  bool behind_test(int at) const {
    if (code_[at].op != Op::pop_top_) return false;
    const int jump = before(at);
    if (jump < 1 || !is_conditional_jump(code_[jump].op)) return false;
    // Excludes `a or b`, where a copy is tested and the value itself is popped, and `except A`, where the exception is
    // popped.
    int value = before(jump);
    if (value > 0 && code_[value].op == Op::to_bool_) value = before(value);
    const Op test = code_[value].op;
    return test != Op::copy_ && test != Op::check_exc_match_;
  }
  // True if the code may contain a `case _ if g:`; this test is cheap, and false for most code objects.
  bool has_candidates() const {
    // For most code objects, a first loop over the jumps finds that the code has no candidates. The loop tests a jump
    // without a branch, because the processor could not predict a branch on the operation of a jump.
    static constexpr OpTable<bool> may_pop(false, {{{Op::nop_, Op::pop_top_}, true}});
    bool is_possible = false;
    for (const int jump : jumps_)
      is_possible |= is_conditional_jump(code_[jump].op) & may_pop[code_[std::min(jump + 1, size() - 1)].op];
    if (!is_possible) return false;
    return std::ranges::any_of(jumps_, [&](InstructionIndex jump) {
      return is_conditional_jump(code_[jump].op) && behind_test(skip(jump + 1));
    });
  }

  // Finds in one pass over the code the instruction that pushed each value, and the instructions where cases may start.
  // If several paths push a value, the last of the instructions that push it is taken as its origin.
  void find_subjects() {
    std::map<int, Stack> entries;
    auto enter = [&](int at, const Stack& stack) {
      auto [known, fresh] = entries.emplace(at, stack);
      if (fresh || known->second.size() != stack.size()) return;
      for (std::size_t slot = 0; slot < stack.size(); ++slot)
        known->second[slot] = std::max(known->second[slot], stack[slot]);
    };
    for (const ProtectedRange& range : decoded_.ranges)
      enter(range.target, Stack(std::size_t(range.depth) + 1 + range.lasti, -1));
    Stack stack;
    bool known = true;
    for (int at = 0; at < size(); ++at) {
      if (auto entry = entries.find(at); entry != entries.end()) {
        if (known) enter(at, stack);
        stack = std::move(entry->second), known = true;
        entries.erase(entry);
      }
      if (!known) continue;
      const Instruction& instruction = code_[at];
      if (!stack.empty() && stack.back() >= 0 && behind_test(at)) {
        // The first case starts behind the instruction that pushed the subject, or at the target of a jump behind that
        // instruction.
        int start = skip(stack.back() + 1);
        while (code_[start].op == Op::jump_ && code_[start].target > start) start = skip(code_[start].target);
        starts_.insert(start);
      }
      const Stack before = instruction.target > at ? stack : Stack{};
      if (instruction.target > at && run(before, stack, at, true)) enter(instruction.target, stack);
      if (instruction.target > at) stack = before;
      known = falls_through(instruction.op) && run(stack, stack, at, false);
    }
  }

  // Applies the effect of the instruction at `at` to a stack. Returns false if the stack is too short.
  bool run(const Stack& from, Stack& to, int at, bool jump) const {
    const Op op = code_[at].op;
    const StackEffect effect = stack_effect(code_[at], decoded_.version, jump);
    if (from.size() < std::size_t(effect.pops)) return false;
    if (&from != &to) to = from;
    if (op == Op::swap_ && code_[at].arg >= 1) {
      std::swap(to.back(), to[to.size() - std::size_t(code_[at].arg)]);
      return true;
    }
    const bool expression = op != Op::get_iter_ && op != Op::get_aiter_ && op != Op::for_iter_ && effect.pushes == 1;
    const bool copies = op == Op::copy_;
    if (!copies) to.resize(to.size() - std::size_t(effect.pops));
    to.insert(to.end(), std::size_t(copies ? 1 : effect.pushes), expression || copies ? at : -1);
    // A list of many items is built empty and then extended (BUILD_LIST 0; LOAD_CONST; LIST_EXTEND 1), so the last
    // extension counts as the instruction that pushed the list.
    const auto depth = std::size_t(std::max(code_[at].arg, 0));
    if (adds_to_display(op) && depth >= 1 && depth <= to.size() && to[to.size() - depth] >= 0)
      to[to.size() - depth] = at;
    return true;
  }

  // Parses the cases of the match statement that may start at `at`. Adds the start of the guard of each `case _ if g:`
  // to `places_` if the last case of the match statement can be parsed.
  void statement(int at) {
    Table<int> places;
    for (int cases = 0; cases < size(); ++cases) {
      at = skip(at);
      ParsedCase parsed;
      int next = -1;
      if (code_[at].op == Op::copy_ && code_[at].arg == 1 && parse_case(decoded_, code_, at, true, parsed)) {
        next = parsed.failure >= 0 ? parsed.failure : case_after_guard(decoded_, code_, parsed.success);
      } else if (parse_case(decoded_, code_, at, false, parsed)) {
        places_.insert(places.begin(), places.end());
        return;
      } else if (next = case_after_guard(decoded_, code_, at); next >= 0) {
        places.push_back(at);
      }
      if (next <= at) return;
      at = next;
    }
  }

  // Inserts COPY 1; POP_TOP at each of `places_`, and corrects jump targets and exception ranges.
  void insert() {
    // Maps the index of an old instruction to its index in the result, or to that of the COPY inserted in front of it.
    Table<int> moved(code_.size() + 1);
    Instructions made;
    for (int at = 0; at < size(); ++at) {
      moved[std::size_t(at)] = int(made.size());
      if (places_.contains(at)) {
        Instruction copy = code_[at];
        copy.op = Op::copy_, copy.arg = 1, copy.aux = 0, copy.target = -1, copy.size = 0, copy.turned = Turned::unknown;
        made.push_back(copy);
        copy.op = Op::pop_top_, copy.arg = 0;
        made.push_back(copy);
      }
      made.push_back(code_[at]);
    }
    moved[code_.size()] = int(made.size());
    for (Instruction& instruction : made)
      if (instruction.target >= 0) instruction.target = moved[std::size_t(instruction.target)];
    for (ProtectedRange& range : decoded_.ranges)
      for (InstructionIndex* place : {&range.begin, &range.end, &range.target})
        *place = moved[std::size_t(std::clamp<int>(*place, 0, size()))];
    code_ = std::move(made);
  }

  DecodedCode& decoded_;
  Instructions& code_;
  const Jumps& jumps_;
  std::set<int> starts_;  // the instructions where the first case of a match statement may start
  std::set<int> places_;  // the starts of guards in front of which COPY 1; POP_TOP is inserted
};

}  // namespace

bool restore_wildcards(DecodedCode& decoded, const Jumps& jumps) {
  return dialect_of(decoded.version).bare_wildcards && Wildcards(decoded, jumps).run();
}

}  // namespace depyf
