// match s:                 <s>
//     case _ if g:         [COPY 1; POP_TOP]; <g>, else N; POP_TOP; <body>        to 3.11 with what stands in brackets
//     case q:              N: q, else ...
//
// A value that is popped right behind a test, which was evaluated above it, is the subject of such a case, or what a loop
// iterates over (`if g: break`): what pushed it tells.
#include "flow/guarded_wildcards.h"

#include <algorithm>
#include <map>
#include <set>

#include "decode/decode.h"
#include "decode/op.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "flow/exception_regions.h"
#include "flow/pattern_parser.h"
#include "support/search_limits.h"

namespace depyf {

int case_after_guard(const DecodedCode& decoded, const std::vector<Instruction>& code, int guard) {
  const int size = int(code.size());
  std::vector<std::pair<int, int>> todo{{guard, 0}};
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
      StackEffect effect = stack_effect(instruction, decoded.code->version, jump);
      return depth - int(effect.pops) + int(effect.pushes);
    };
    if (instruction.target >= 0) todo.push_back({instruction.target, change(true)});
    if (falls_through(instruction.op)) todo.push_back({at + 1, change(false)});
  }
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
  explicit Wildcards(DecodedCode& decoded) : decoded_(decoded), code_(decoded.instructions) {}

  void run() {
    if (!has_candidates()) return;
    find_subjects();
    for (int start : starts_) statement(start);
    if (!places_.empty()) insert();
  }

 private:
  using Stack = std::vector<int>;  // by value: the instruction that pushed it; -1: no expression did

  int size() const { return int(code_.size()); }
  int skip(int at) const {
    while (at < size() - 1 && code_[at].op == Op::nop_) ++at;
    return at;
  }
  int before(int at) const {  // at least 1: the instruction before it that does something, or the first
    do --at;
    while (at > 0 && code_[at].op == Op::nop_);
    return at;
  }
  bool behind_test(int at) const {
    if (code_[at].op != Op::pop_top_) return false;
    const int jump = before(at);
    if (jump < 1 || !is_conditional_jump(code_[jump].op)) return false;
    // `a or b`: the copy is what is tested, and the value is popped; `except A`: the exception is.
    const Op test = code_[before(jump)].op;
    return test != Op::copy_ && test != Op::check_exc_match_;
  }
  bool has_candidates() const {
    for (int at = 1; at < size(); ++at)
      if (behind_test(at)) return true;
    return false;
  }

  // One walk over the code as it lies: what pushed each value. Of a value that several ways make it is the last.
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

  bool run(const Stack& from, Stack& to, int at, bool jump) const {
    const Op op = code_[at].op;
    const StackEffect effect = stack_effect(code_[at], decoded_.code->version, jump);
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
    return true;
  }

  void statement(int at) {
    std::vector<int> places;
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

  void insert() {
    std::vector<int> moved(code_.size() + 1);  // by old instruction: its place, that of a copy before it
    std::vector<Instruction> made;
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
      for (int* place : {&range.begin, &range.end, &range.target})
        *place = moved[std::size_t(std::clamp(*place, 0, size()))];
    code_ = std::move(made);
  }

  DecodedCode& decoded_;
  std::vector<Instruction>& code_;
  std::set<int> starts_;  // where a value was pushed that may be a subject
  std::set<int> places_;  // of guards
};

}  // namespace

void restore_wildcards(DecodedCode& decoded) {
  if (dialect_of(decoded.code->version).bare_wildcards) Wildcards(decoded).run();
}

}  // namespace depyf
