// Recognises the copies of finally bodies. For `try: <try>` with `finally: <body>`, the compiler emits the finally body
// once for each exit of the try body, and once more in the handler for exceptions.
//
//   If the try body ends normally, the code is <try>; <body>; <next statement>.
//   If `return`, `break` or `continue` leaves the try body, the code is <body>; RETURN_VALUE, or <body>; JUMP.
//   The handler of the try statement is PUSH_EXC_INFO; <body>; RERAISE 0.
//
// A copy is recognised by walking at the same time over the finally body in the handler and over the possible copy, and
// comparing each pair of instructions. The offsets of jump targets are not compared, because the blocks of a copy may
// be in another order than the blocks of the body in the handler.
#include <algorithm>
#include <map>

#include "decode/decode.h"
#include "decode/equal_constants.h"
#include "decode/op.h"
#include "depyf/constant.h"
#include "dialect/dialect.h"
#include "flow/exception_regions.h"
#include "support/forest.h"
#include "support/search_limits.h"
#include "support/table.h"

namespace depyf {
namespace {

using Next = Table<InstructionIndex, InstructionIndex>;  // see Flow::next

// Returns the instruction that control reaches from `at` through jumps and NOPs.
int plain_instruction(Row<const Instruction, InstructionIndex> code, const Next& next, int at) {
  for (int steps = 0; steps < search_limits::silent_chain; ++steps) {
    Op op = code[at].op;
    if (op == Op::jump_ && code[at].target >= 0) at = code[at].target;
    else if (op == Op::nop_ && next[at] >= 0) at = next[at];
    else break;
  }
  return at;
}

// Returns the conditional jump that falls through on the condition on which `op` jumps.
Op turned_around(Op op) {
  return op == Op::pop_jump_if_true_    ? Op::pop_jump_if_false_
         : op == Op::pop_jump_if_false_ ? Op::pop_jump_if_true_
         : op == Op::pop_jump_if_none_  ? Op::pop_jump_if_not_none_
                                        : Op::pop_jump_if_none_;
}

// True if both instructions do the same, apart from their jump targets. Patterns and inlined comprehensions are
// compared by content, since their arguments are indices, which differ between copies. So are constants: up to 3.11, the
// compiler adds a tuple that it folds, such as the defaults of a function, once for each copy.
bool same_operation(const DecodedCode& decoded, const Cfg& cfg, const Instruction& one, const Instruction& two) {
  if (one.op != two.op || one.aux != two.aux) return false;
  if (one.op == Op::match_case_)
    return same_pattern(decoded, cfg.patterns[std::size_t(one.arg)], cfg.patterns[std::size_t(two.arg)]);
  if (one.op == Op::load_const_ && one.arg != two.arg)
    return equal_constants(decoded.constant(one.arg), decoded.constant(two.arg));
  if (one.op != Op::comprehension_ || one.arg == two.arg) return one.arg == two.arg;
  const Instructions &a = cfg.comprehensions[std::size_t(one.arg)].body.instructions,
                     &b = cfg.comprehensions[std::size_t(two.arg)].body.instructions;
  auto plain = [](const Instructions& code) {
    Table<int> numbers(code.size() + 1);  // maps an index to the number of non-NOP instructions in front of it
    int count = 0;
    for (std::size_t at = 0; at < code.size(); ++at) numbers[at] = code[at].op == Op::nop_ ? count : count++;
    numbers[code.size()] = count;
    return numbers;
  };
  const Table<int> in_a = plain(a), in_b = plain(b);
  if (in_a.back() != in_b.back()) return false;
  for (std::size_t x = 0, y = 0; x < a.size() || y < b.size(); ++x, ++y) {
    while (x < a.size() && a[x].op == Op::nop_) ++x;
    while (y < b.size() && b[y].op == Op::nop_) ++y;
    if (x >= a.size() || y >= b.size()) return x >= a.size() && y >= b.size();
    if ((a[x].target < 0) != (b[y].target < 0) || !same_operation(decoded, cfg, a[x], b[y])) return false;
    if (a[x].target >= 0 && in_a[std::size_t(a[x].target)] != in_b[std::size_t(b[y].target)]) return false;
  }
  return true;
}

// Compares possible copies with the finally body in the handler of one region.
class CopyMatcher {
 public:
  CopyMatcher(const DecodedCode& decoded, const Cfg& cfg, const Flow& flow, RegionIndex region)
      : decoded_(decoded),
        cfg_(cfg),
        code_(cfg.code),
        flow_(flow),
        outer_(cfg.regions[region].parent),
        handler_scope_(cfg.region_of[cfg.regions[region].handler_at]) {
    start_ = cfg.regions[region].handler_at;
    while (code_[start_].op == Op::nop_) ++start_;
    ++start_;  // skips PUSH_EXC_INFO
  }

  // Returns the instruction where control continues after the copy of the finally body that starts at `copy`. Returns
  // -1 if the code at `copy` is not a copy, and -2 if the finally body never completes normally, as in `finally:
  // raise`.
  //
  // After the call, `has_dropped` is true if the copy of the finally body pops a value that `return` in the try body
  // would have returned.
  int match(int copy) {
    // `seen_` maps each instruction of the finally body to its copy; `regions_` maps each region within the body to the
    // copied region.
    seen_.clear(), regions_.clear(), after_ = -2, has_dropped_ = false;
    Table<std::pair<int, int>> todo{{start_, copy}};
    while (!todo.empty()) {
      auto [mine, other] = todo.back();
      todo.pop_back();
      if (!step(plain(mine), other, todo)) return -1;
      if (seen_.size() > search_limits::compared_pairs) return -1;
    }
    return after_;
  }

  bool has_dropped() const { return has_dropped_; }

 private:
  int plain(int at) const { return plain_instruction(code_, flow_.next, at); }

  // True if the code at `one` and at `two` does the same until it leaves the function or reaches one common
  // instruction. Copies of a short exit of the function, for example, do the same (see exit_copies.cpp).
  bool same_end(int one, int two) const {
    for (int steps = 0; steps < 8; ++steps) {
      one = plain(one), two = plain(two);
      if (one == two) return true;
      const Instruction &a = code_[one], &b = code_[two];
      if (!same_operation(decoded_, cfg_, a, b) || a.target >= 0) return false;
      if (!falls_through(a.op)) return true;
      one = flow_.next[one], two = flow_.next[two];
    }
    return false;
  }

  // Compares instruction `mine` of the body with `raw` of the copy, and puts the pairs to compare next into `todo`.
  // Returns false if the two instructions differ.
  bool step(int mine, int raw, Table<std::pair<int, int>>& todo) {
    const int other = plain(raw);
    const Instruction& a = code_[mine];
    // The finally body in the handler ends in a `reraise`. Where the handler has the `reraise`, the copy of the finally
    // body continues with the code behind the try statement.
    if (a.op == Op::reraise_ && a.arg == 0 && cfg_.region_of[mine] == handler_scope_) {
      // The jump at the end of a statement in the copy may lie in the region of that statement.
      const RegionIndex own = cfg_.region_of[raw];
      if (after_ < 0) after_ = code_[raw].op == Op::jump_ && own != outer_ && cfg_.inside(own, outer_) ? other : raw;
      return plain(after_) == other || same_end(after_, other);
    }
    auto [found, fresh] = seen_.emplace(mine, other);
    if (!fresh) return found->second == other || same_end(found->second, other);
    // If the finally body is left by return, break or continue, the handler pops the exception first, while a copy of
    // the finally body has no exception to pop.
    int left = leave_handler(mine);
    const Instruction& b = code_[other];
    if (left >= 0) {
      seen_.erase(mine);
      // If `break` or `return` in a finally body discards the value of a `return` in the try body, the copy of the
      // finally body pops this value, which the handler does not have. Both the handler and the copy pop the iterator
      // of a `for` loop.
      const int goes_on = plain(left);
      const bool drops = pops(other) > pops(goes_on);
      has_dropped_ = has_dropped_ || drops;
      return step(goes_on, drops ? behind_pop(other) : int(raw), todo);
    }
    // A test that jumps back in the finally body may correspond in the copy to the opposite test in front of an
    // unconditional jump back, or the other way round. For a pair of opposite tests, the jump of each test is compared
    // with the fall-through of the other test.
    const bool turned = is_conditional_jump(a.op) && b.op == turned_around(a.op);
    if (turned ? a.arg != b.arg || a.aux != b.aux : !same_operation(decoded_, cfg_, a, b)) return false;
    RegionIndex inner = cfg_.region_of[mine], inner_other = cfg_.region_of[other];
    // Code of the finally body that lies in no inner statement is in the handler's region, and a copy of this code is
    // in the region around the try statement. Behind a `break`, `continue` or `return` that leaves the handler, the
    // finally body and its copy lie in one region. A `return` at the end of the function may lie in neither the
    // handler's region nor the region around the try statement.
    const bool has_left = handler_scope_ >= 0 && !cfg_.inside(inner, handler_scope_) && inner == inner_other;
    if (!has_left && (inner == handler_scope_) != (inner_other == outer_)) {
      if (a.op != Op::return_value_ && a.op != Op::load_const_) return false;
    } else if (!has_left && inner != handler_scope_) {
      auto [pair, first] = regions_.emplace(inner, inner_other);
      if (!first && pair->second != inner_other) return false;
      if (first && inner >= 0 && inner_other >= 0) {
        const Region &x = cfg_.regions[inner], &y = cfg_.regions[inner_other];
        if (x.kind != y.kind) return false;
        if (x.handler_at >= 0 && y.handler_at >= 0) todo.push_back({x.handler_at, y.handler_at});
      }
    }
    if (turned) {
      todo.push_back({a.target, flow_.next[other]});
      todo.push_back({flow_.next[mine], b.target});
      return true;
    }
    if (a.target >= 0) todo.push_back({a.target, b.target});
    if (flow_.next[mine] >= 0) todo.push_back({flow_.next[mine], flow_.next[other]});
    return (a.target >= 0) == (b.target >= 0) && (flow_.next[mine] >= 0) == (flow_.next[other] >= 0);
  }

  // Returns the instruction behind the sequence [SWAP 2]; POP_TOP at `at`, or -1 if `at` does not start this sequence.
  // With the SWAP, the sequence pops the second value of the stack and keeps the top value.
  int behind_pop(int at) const {
    if (code_[at].op == Op::swap_ && code_[at].arg == 2 && flow_.next[at] >= 0) at = plain(flow_.next[at]);
    return code_[at].op == Op::pop_top_ ? int(flow_.next[at]) : -1;
  }

  // Returns the number of values that the instructions from `at` on pop one after the other.
  int pops(int at) const {
    int count = 0;
    while (count < search_limits::silent_chain) {
      const int next = behind_pop(at);
      if (next < 0) break;
      ++count;
      at = plain(next);
    }
    return count;
  }

  // Returns the instruction behind the sequence [SWAP 2]; POP_TOP; [SWAP 2]; POP_EXCEPT at `at`, or -1 if `at` does not
  // start this sequence. The sequence pops the exception. With the SWAPs, the sequence keeps the value above the
  // exception.
  int leave_handler(int at) const {
    if (cfg_.region_of[at] != handler_scope_) return -1;
    bool popped = false;
    for (int steps = 0; steps < 8 && at >= 0; ++steps) {
      Op op = code_[at].op;
      if (op == Op::pop_top_ && !popped) popped = true;
      else if (op == Op::pop_except_ && popped) return flow_.next[at];
      else if (op != Op::swap_ && op != Op::nop_) return -1;
      at = flow_.next[at];
    }
    return -1;
  }

  const DecodedCode& decoded_;
  const Cfg& cfg_;
  const Row<const Instruction, InstructionIndex> code_;
  const Flow& flow_;
  int outer_;  // the region around the try statement, which contains the copies of the finally body
  // `handler_scope_`: the region of the handler; `start_`: the first instruction of the finally body; `after_`: the
  // result of `match`.
  int handler_scope_, start_ = 0, after_ = -2;
  bool has_dropped_ = false;
  std::map<int, int> seen_, regions_;
};

// Returns the depth of the operand stack in front of each instruction; -1 if control does not reach the instruction.
Table<int, InstructionIndex> stack_depths(const Cfg& cfg, const Flow& flow) {
  Table<int, InstructionIndex> depths(cfg.code.size(), -1);
  Table<InstructionIndex> todo;
  const auto reach = [&](InstructionIndex at, int depth) {
    if (at < 0 || depths[at] >= 0 || depth < 0) return;
    depths[at] = depth;
    todo.push_back(at);
  };
  reach(InstructionIndex(0), 0);
  for (const Region& region : cfg.regions) reach(region.handler_at, region.depth + region.lasti + 1);
  while (!todo.empty()) {
    const InstructionIndex at = todo.back();
    todo.pop_back();
    const auto after = [&](bool jump) {
      const StackEffect effect = stack_effect(cfg.code[at], unwound_version, jump);
      return depths[at] - effect.pops + effect.pushes;
    };
    reach(cfg.code[at].target, after(true));
    reach(flow.next[at], after(false));
  }
  return depths;
}

}  // namespace

void remove_finally_copies(Cfg& cfg, Flow& flow, const Table<char>& reachable, const DecodedCode& decoded) {
  auto is_finally = [](const Region& region) { return region.kind == Region::Kind::try_finally && !region.called; };
  if (std::none_of(cfg.regions.begin(), cfg.regions.end(), is_finally)) return;
  // All copies are matched before any edge changes, because a copy of an outer finally body contains copies of the
  // finally bodies within the outer one.
  Table<std::map<int, int>, RegionIndex> after(cfg.regions.size());  // maps the start of a copy to the code behind it
  // The reachable instructions from which control may leave the region in which they lie.
  Table<InstructionIndex> leaving;
  for (InstructionIndex at = 0; at < int(cfg.code.size()); ++at) {
    const bool goes_on_within =
        cfg.code[at].target < 0 && flow.next[at] >= 0 && cfg.region_of[flow.next[at]] == cfg.region_of[at];
    if (reachable[at] && cfg.region_of[at] >= 0 && !goes_on_within) leaving.push_back(at);
  }
  // Control leaves `region` at `last`, and goes to `copy`, the start of a copy of a finally body that never completes
  // normally.
  struct Unreturned {
    InstructionIndex last, copy;
    RegionIndex region;
  };
  Table<Unreturned> unreturned;
  Table<int, InstructionIndex> depths;  // the stack depth at each instruction; computed on demand
  const Forest<RegionIndex, InstructionIndex> members(
      cfg.regions.size(), [&](RegionIndex region) { return cfg.regions[region].parent; }, leaving,
      [&](InstructionIndex at) { return cfg.region_of[at]; });
  for (RegionIndex region = 0; region < int(cfg.regions.size()); ++region) {
    if (!is_finally(cfg.regions[region])) continue;
    CopyMatcher matcher(decoded, cfg, flow, region);
    bool all = true;
    Table<Unreturned> waiting;
    // The first copy of a finally body that never completes normally; -1 until a copy is found. 3.10 copies the finally
    // body to each normal end of the region, and all edges to one of the copies are redirected to the first copy.
    int shared = -1;
    for (const InstructionIndex at : members.of(region)) {
      if (!all) break;
      for (InstructionIndex to : {cfg.code[at].target, flow.next[at]}) {
        if (to < 0 || cfg.inside(cfg.region_of[to], region)) continue;
        to = plain_instruction(cfg.code, flow.next, to);
        if (after[region].contains(to)) continue;
        int end = matcher.match(to);
        if (end == -1) all = false;
        if (end == -2) {
          if (depths.empty()) depths = stack_depths(cfg, flow);
          const bool waits = matcher.has_dropped() || depths[to] > cfg.regions[region].depth;
          if (waits) {
            waiting.push_back({at, to, region});
          } else {
            if (shared < 0) shared = to;
            end = shared;
          }
        }
        after[region][to] = end;
      }
    }
    if (all) {
      unreturned.insert(unreturned.end(), waiting.begin(), waiting.end());
      continue;
    }
    cfg.regions[region].kind = Region::Kind::try_except;
    after[region].clear();
  }
  // An edge that leaves several try statements runs the copies of all their finally bodies, from the inside out.
  const Next before = flow.next;
  const Instructions code = cfg.code;
  auto resolve = [&](RegionIndex region, int to) {
    for (; region >= 0 && to >= 0; region = cfg.regions[region].parent) {
      auto found = after[region].find(plain_instruction(code, before, to));
      if (found == after[region].end() || found->second < 0) continue;
      to = found->second;
      // The code behind a copy of the finally body may lie in the region of the try body, like the start of a loop
      // around the try statement. No try statement compiles to an edge that runs the finally body and then continues in
      // the try body.
      if (cfg.inside(cfg.region_of[to], region)) cfg.odd_regions = true;
    }
    return to;
  };
  for (int at = 0; at < int(cfg.code.size()); ++at) {
    if (!reachable[at] || cfg.region_of[at] < 0) continue;
    cfg.code[at].target = resolve(cfg.region_of[at], cfg.code[at].target);
    flow.next[at] = resolve(cfg.region_of[at], flow.next[at]);
  }
  // A copy of a finally body that never completes normally (such as `finally: raise`) may start with the value of a
  // `return` on the stack. The first instruction of the copy is then replaced by RETURN_VALUE, which pops this value.
  // The finally body is not lost, because the finally clause is built from the copy in the exception handler.
  for (auto [at, to, region] : unreturned) {
    // If the copy of the finally body starts with the NOP of an inner try statement, edges to this NOP are redirected
    // to the RETURN_VALUE, which the handlers of the inner try statement do not cover.
    for (InstructionIndex* next : {&cfg.code[at].target, &flow.next[at]})
      if (*next >= 0 && plain_instruction(cfg.code, flow.next, *next) == to) *next = to;
    Instruction& taken = cfg.code[to];
    taken.op = Op::return_value_, taken.arg = taken.aux = 0, taken.target = -1, taken.line = cfg.code[at].line;
    flow.next[to] = -1;
    cfg.region_of[to] = cfg.regions[region].parent;
  }
  flow.stops.clear();
  for (int at = 0; at < int(flow.next.size()); ++at) flow.stops.add_if(flow.next[at] != at + 1, at);
  // The edge along which control leaves a with statement that suppresses an exception is redirected too, because the
  // edge may leave a try statement with a finally body.
  for (Region& region : cfg.regions)
    if (region.follow_at >= 0) region.follow_at = resolve(region.parent, region.follow_at);
}

}  // namespace depyf
