// Recognises exception handlers by their shape, and makes one tree of regions from them. From 3.11 on, each handler
// starts with the operand stack cut to the depth that its exception range states. The compiler emits the following
// handlers.
//
//   The cleanup of a handler, which protects the handler's own code, is COPY 3; POP_EXCEPT; RERAISE 1.
//   The handler of `with` starts with PUSH_EXC_INFO; WITH_EXCEPT_START; POP_JUMP_IF_TRUE suppressed; RERAISE 2.
//   At the label `suppressed`, the handler of `with` ends in POP_TOP; POP_EXCEPT; POP_TOP; POP_TOP.
//   In 3.14, the handler of `with` ends in one more POP_TOP.
//   The handler of `except` starts with PUSH_EXC_INFO; <type>; CHECK_EXC_MATCH.
//   The handler of a bare `except` starts with PUSH_EXC_INFO; POP_TOP.
//   The handler of `except*` starts, after simplify_except_star, with PUSH_EXC_INFO; <type>; CHECK_EG_MATCH.
//   The end of `except T as e`, which protects the clause's body, is LOAD_CONST None; STORE e; DELETE e; RERAISE 1.
//   The handler of `finally` is PUSH_EXC_INFO; <body>; RERAISE 0.
//   The handler of an inlined comprehension (from 3.12 on) is SWAP 2; POP_TOP; SWAP n; STORE_FAST x; RERAISE 0.
//
// All steps are in one file, because they work on the same tables about the instructions of one code object.
#include "flow/exception_regions.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "decode/decode.h"
#include "decode/op.h"
#include "decode/op_table.h"
#include "dialect/dialect.h"
#include "support/branch_free.h"
#include "support/search_limits.h"
#include "support/table.h"

namespace depyf {
namespace {

// The kind of a handler, which is recognised by its instructions. A handler of shape `transparent` belongs to no try or
// with statement of the source. The instructions that a transparent handler protects belong to the region around the
// handler.
enum class Shape { unknown, cleanup, with, except, except_star, finally, transparent };

// Groups ranges by their handler, makes one region of each group, and assigns instructions to regions.
class RegionBuilder {
 public:
  RegionBuilder(Cfg& cfg, const Table<ProtectedRange>& ranges, const Flow& flow, const Table<char>& reachable)
      : cfg_(cfg),
        code_(cfg.code),
        jumps_(flow.jumps),
        reachable_(reachable),
        count_(int(code_.size())),
        cover_(code_.size(), -1) {
    // A handler is dropped if none of the instructions that it protects can raise.
    constexpr int unused = -1, fresh = -2;
    Table<int> group_of(code_.size() + 1, unused);  // indexed by the instruction where a handler starts
    auto may_raise = [&](int at) {
      const Op op = code_[at].op;
      return reachable[at] && op != Op::nop_ && (op != Op::jump_ || closes_idle_loop(at));
    };
    for (const ProtectedRange& range : ranges) {
      int at = range.begin;
      while (at < range.end && at < count_ && !may_raise(at)) ++at;
      if (at < range.end && at < count_) group_of[range.target] = fresh;
    }
    // Ranges with the same handler are one group. If several ranges cover an instruction, the first of them in the
    // exception table is the innermost.
    for (const ProtectedRange& range : ranges) {
      int& group = group_of[range.target];
      if (group == unused) continue;
      if (group == fresh) {
        group = int(groups_.size());
        groups_.push_back({range, unresolved});
      }
      for (int at = range.begin; at < range.end && at < count_; ++at)
        if (cover_[at] < 0) cover_[at] = group;
    }
  }

  // Assigns a region to each instruction.
  void run() {
    cfg_.region_of.resize(code_.size());
    // A NOP or RESUME belongs to the region of the next instruction: the compiler leaves NOPs out of ranges. If a pass
    // has removed the target of a jump, the jump sets the element `count_`, which belongs to no instruction.
    Table<char> target(code_.size() + 1), loop(code_.size() + 1);
    // One loop sets the flags of three functions `adopt_...`: if a flag stays false, its function has nothing to do.
    bool between = false, tests = false, headers = false;
    for (const int at : jumps_) {
      // The targets of jumps that control never reaches do not count. If the compiler removed the body of a try
      // statement, its handlers contain such jumps.
      if (!reachable_[at]) continue;
      const int to = code_[at].target, existing = select(to >= 0, to, count_), start = std::max(to, 0);
      target[existing] = 1, loop[select(to <= at, existing, count_)] = 1;
      between |= code_[std::max(to - 1, 0)].op == Op::nop_;
      tests |= deciding_jumps[code_[at].op] & (cover_[at] < 0);
      headers |= (code_[start].op == Op::nop_) & (to <= at);
    }
    const Row<RegionIndex, InstructionIndex> region_of(cfg_.region_of);
    RegionIndex behind;  // the region of the instruction behind `at`
    int cover = -1;  // the group of ranges that determined `behind`; -1 if no range did
    // If a jump leads to the next instruction or back to the NOP, a loop around the statement may start at the NOP, so
    // the NOP keeps its own region.
    static constexpr OpTable<bool> does_nothing(false, {{{Op::nop_, Op::resume_}, true}});
    auto joins_next = [&](int at) {
      return does_nothing[code_[at].op] & (at + 1 < count_) & (loop[at] == 0) & (target[at + 1] == 0);
    };
    for (int at = count_ - 1; at >= 0; --at) {
      if (cover_[at] != cover && !joins_next(at)) behind = region_at(at), cover = cover_[at];
      region_of[at] = behind;
    }
    if (between) adopt_between();
    if (tests) adopt_tests();
    if (headers) adopt_headers();
    adopt_jumps();
    if (too_deep_) cfg_.odd_regions = true;
  }

 private:
  static constexpr OpTable<bool> deciding_jumps{
      false,
      {{{Op::pop_jump_if_true_, Op::pop_jump_if_false_, Op::pop_jump_if_none_, Op::pop_jump_if_not_none_,
         Op::jump_if_true_or_pop_, Op::jump_if_false_or_pop_},
        true}}};

  // Moves the NOP of `try:` into a region if the next instruction is a jump target. 3.14 leaves the NOP of `try:` out
  // of all exception ranges. The NOP of `try:` belongs to the innermost region that contains the next instruction and
  // all predecessors of the NOP.
  void adopt_between() {
    std::unordered_map<int, int> common;  // maps a NOP to the region that it is moved into
    for (const int jump : jumps_) {
      const int to = code_[jump].target, at = to - 1;
      if (at >= 0 && code_[at].op == Op::nop_ && cover_[at] < 0 && cfg_.region_of[to] >= 0)
        common[at] = cfg_.region_of[to];
    }
    if (common.empty()) return;
    std::unordered_set<int> reached;
    auto join = [&](int from, int to) {
      auto found = common.find(to);
      if (found == common.end()) return;
      reached.insert(to);
      found->second = cfg_.around(found->second, cfg_.region_of[from]);
    };
    for (int at = 0; at < count_; ++at) {
      if (code_[at].target >= 0) join(at, code_[at].target);
      if (at + 1 < count_ && falls_through(code_[at].op)) join(at, at + 1);
    }
    for (int at : reached)
      if (cfg_.inside(common[at], cfg_.region_of[at])) cfg_.region_of[at] = common[at];
  }

  // Moves conditional jumps that no range covers into the region around them. From 3.14 on, the test behind an operand
  // of `(a or b) or c` lies outside of the range that covers the operands, because the compiler puts the test into a
  // block of its own. In 3.13 and 3.14, so does a test at the end of a case clause, whose jumps may lead out of the
  // region: `with a: match b: case c: if d: e`.
  void adopt_tests() {
    for (const int at : jumps_) {
      if (at < 1 || at + 1 >= count_) continue;
      const Op jump = code_[at].op;
      if (!deciding_jumps[jump] || cover_[at] >= 0) continue;
      int first = at;
      auto is_test = [&](int index) {
        const Op op = code_[index].op;
        const bool is_kept = op == Op::copy_ || op == Op::pop_top_;  // the value that the jump leaves on the stack
        return cover_[index] < 0 && (op == Op::to_bool_ || op == Op::nop_ || is_kept);
      };
      while (first > 1 && is_test(first - 1)) --first;
      int behind = at + 1;
      while (behind + 1 < count_ && cover_[behind] < 0 && code_[behind].op == Op::nop_) ++behind;
      const RegionIndex around = region_in_front(first);
      if (around < 0 || cover_[first - 1] < 0 || !falls_through(code_[first - 1].op)) continue;
      // A test that leaves no value on the stack belongs to the region that computed the value, wherever it leads.
      if (!is_conditional_jump(jump) && !cfg_.inside(cfg_.region_of[behind], around)) continue;
      for (int index = first - 1; index < behind; ++index) cfg_.region_of[index] = around;
      cfg_.code[at].is_grouped = !is_conditional_jump(jump);
    }
  }

  // Moves a NOP that starts a loop into the innermost region that the whole loop lies within.
  void adopt_headers() {
    // Maps a NOP that starts a loop to the innermost region that contains both the instruction behind the NOP and all
    // jumps back to the NOP.
    std::unordered_map<int, int> inner;
    for (const int at : jumps_) {
      const int to = code_[at].target;
      if (to < 0 || to > at || code_[to].op != Op::nop_) continue;
      auto found = inner.emplace(to, cfg_.region_of[to + 1]).first;
      auto join = [&](int from) { found->second = cfg_.around(found->second, cfg_.region_of[from]); };
      // If a jump back lies outside of all ranges (see adopt_jumps), the region of the test in front of the jump is
      // used in place of the region of the jump. If such a jump leads to a NOP, the region of the NOP must also
      // contain the instruction in front of the NOP, if that instruction falls through into the loop.
      const bool left_out =
          at > 0 && code_[at].op == Op::jump_ && cover_[at] < 0 && is_conditional_jump(code_[at - 1].op);
      join(left_out ? at - 1 : at);
      if (left_out && to > 0 && falls_through(code_[to - 1].op)) join(to - 1);
    }
    for (auto [at, region] : inner)
      if (cfg_.inside(region, cfg_.region_of[at])) cfg_.region_of[at] = region;
  }

  // Moves jumps into the region of their target. From 3.12 on, a jump that closes a loop within a statement lies
  // outside of the statement's range, because a jump cannot raise.
  void adopt_jumps() {
    // Pairs of a jump and an instruction that jumps to it, sorted.
    Table<std::pair<int, int>> chained;
    for (const int at : jumps_)
      if (const int to = code_[at].target; to >= 0 && code_[to].op == Op::jump_) chained.push_back({to, at});
    std::sort(chained.begin(), chained.end());
    // From 3.13 on, a conditional jump that the compiler inverted (to jump over a jump back) also lies outside of the
    // range of its statement, like the jump back.
    for (const int at : jumps_) {
      if (at < 1 || !is_conditional_jump(code_[at].op) || code_[at].turned != Turned::yes) continue;
      const RegionIndex before = region_in_front(at);
      // A NOP at a jump target may have been moved into the region of the next instruction, so the region of the
      // range that covers the NOP is checked, too.
      auto leads_inside = [&](int to) {
        return to >= 0 && (cfg_.inside(cfg_.region_of[to], before) || cfg_.inside(region_at(to), before));
      };
      // If the inverted jump leads out of its statement, the jump back behind the inverted jump leads into the
      // statement.
      const int next = skip(at + 1);
      const bool goes_round = next < count_ && code_[next].op == Op::jump_ && leads_inside(code_[next].target);
      const bool inside = leads_inside(code_[at].target) || goes_round;
      if (falls_through(code_[at - 1].op) && inside) cfg_.region_of[at] = cfg_.region_of[at - 1] = before;
    }
    for (const int at : jumps_) {
      if (at < 1 || code_[at].op != Op::jump_ || code_[at].target < 0) continue;
      const RegionIndex inner = cfg_.region_of[code_[at].target];
      if (inner < 0 || inner == cfg_.region_of[at]) continue;
      // If the body of an `async for` ends in a try or with statement, the jump that closes the loop lies outside of
      // `inner`, the region of its target. If control reaches a jump only from regions within `inner`, the jump is
      // moved into `inner`.
      const bool left_out = !cfg_.inside(cfg_.region_of[at], inner);
      auto comes_from_inner = [&](int source) {
        // The NOP of a `break` may lie in front of the jump.
        const RegionIndex from_region = source == at - 1 ? region_in_front(at) : cfg_.region_of[source];
        return from_region == inner || (left_out && cfg_.inside(from_region, inner));
      };
      const bool is_fallen_into = falls_through(code_[at - 1].op);
      const auto sources = std::ranges::equal_range(chained, at, {}, [](const auto& pair) { return pair.first; });
      if (is_fallen_into ? !comes_from_inner(at - 1) : sources.empty()) continue;
      if (!std::ranges::all_of(sources, [&](const auto& pair) { return comes_from_inner(pair.second); })) continue;
      cfg_.region_of[at] = inner;
      if (code_[at - 1].op == Op::nop_ && cover_[at - 1] >= 0) cfg_.region_of[at - 1] = inner;
    }
  }

  // All exception ranges with one handler. `region` is -1 outside of all regions, and `unresolved` or `in_resolution`
  // until it is known.
  struct Group {
    ProtectedRange range;
    RegionIndex region;
  };
  static constexpr int unresolved = -2, in_resolution = -3;

  // True if the jump at `at` closes an empty loop like `while True: pass`. A signal handler may raise an exception at
  // the jump of an empty loop (KeyboardInterrupt, for example); other loops contain further instructions that may
  // raise.
  bool closes_idle_loop(int at) const {
    const int to = code_[at].target;
    return to >= 0 && to <= at && skip(to) == at;
  }

  // Returns the first instruction from `at` that is not a NOP.
  int skip(int at) const {
    while (at < count_ - 1 && code_[at].op == Op::nop_) ++at;
    return at;
  }
  // True if the instructions from `at` on are `ops`, with NOPs between them. `*after` is set to the index behind the
  // last instruction of the sequence.
  bool sequence(int at, std::initializer_list<Op> ops, int* after = nullptr) const {
    for (Op op : ops) {
      at = skip(at);
      if (at >= count_ || code_[at].op != op) return false;
      ++at;
    }
    if (after) *after = at;
    return true;
  }

  // Returns the region of the range that covers `at`, or -1 if no range covers `at`.
  RegionIndex region_at(int at) {
    if (cover_[at] < 0) return RegionIndex();
    const RegionIndex known = groups_[cover_[at]].region;
    return known >= -1 ? known : resolve(cover_[at], 0);
  }

  // Returns the region of the instruction in front of `at`. If this is a NOP that a range covers, `run` has moved it into
  // the region of `at`, so the region of the range counts.
  RegionIndex region_in_front(int at) {
    const bool is_moved = code_[at - 1].op == Op::nop_ && cover_[at - 1] >= 0;
    return is_moved ? region_at(at - 1) : cfg_.region_of[at - 1];
  }

  // Returns the region of a group, and creates it if necessary. `depth` is the number of groups whose resolution waits
  // for this group. If exception ranges form a circle, so that a handler protects itself through other handlers, the
  // handler has no region, and `odd_regions` is set.
  RegionIndex resolve(int index, int depth) {
    Group& group = groups_[index];
    if (group.region != unresolved || depth > search_limits::region_nesting) {
      if (group.region == in_resolution || depth > search_limits::region_nesting) too_deep_ = true;
      return group.region >= -1 ? group.region : RegionIndex();
    }
    group.region = in_resolution;
    int target = group.range.target, follow = -1;
    bool async = false;
    Shape shape = group.range.called ? Shape::finally : classify(target, follow, async);
    const RegionIndex outer = cover_[target] < 0 ? RegionIndex() : resolve(cover_[target], depth + 1);
    if (shape == Shape::transparent) return group.region = outer;
    Region region;
    region.depth = group.range.depth, region.lasti = group.range.lasti, region.is_async = async;
    region.called = group.range.called;
    region.handler_at = target, region.follow_at = follow, region.parent = outer;
    switch (shape) {
      case Shape::cleanup: region.kind = Region::Kind::handler; break;
      case Shape::with: region.kind = Region::Kind::with; break;
      case Shape::finally: region.kind = Region::Kind::try_finally; break;
      case Shape::except_star: region.is_star = true; [[fallthrough]];
      case Shape::except: region.kind = Region::Kind::try_except; break;
      case Shape::unknown:
      case Shape::transparent: cfg_.odd_regions = true; break;
    }
    // A handler has a region of its own, which is a sibling of the region of the protected body. If the code of the
    // body's handler lies in a handler region, the region of the body gets the parent of that handler region.
    if (shape != Shape::cleanup && outer >= 0 && cfg_.regions[outer].kind == Region::Kind::handler)
      region.parent = cfg_.regions[outer].parent;
    cfg_.regions.push_back(region);
    return group.region = int(cfg_.regions.size()) - 1;
  }

  // Returns the shape of the handler at `at`. For a with statement, `follow` is set to the index behind the code for a
  // suppressed exception, and `async` to true if the exit is awaited.
  Shape classify(int at, int& follow, bool& async) const {
    int after = 0;
    if (sequence(at, {Op::copy_, Op::pop_except_, Op::reraise_})) return Shape::cleanup;
    for (Op store : {Op::store_fast_, Op::store_name_, Op::store_global_, Op::store_deref_}) {
      if (sequence(at, {Op::load_const_, store, delete_of(store), Op::reraise_})) return Shape::transparent;
    }
    if (sequence(at, {Op::swap_, Op::pop_top_})) return Shape::transparent;
    if (!sequence(at, {Op::push_exc_info_}, &after)) return Shape::unknown;
    if (sequence(after, {Op::with_except_start_}, &after)) {
      const bool with_self = code_[after - 1].aux != 0;
      async = sequence(after, {Op::get_awaitable_, Op::load_const_, Op::yield_from_}, &after);
      sequence(after, {Op::to_bool_}, &after);
      after = skip(after);
      if (code_[after].op != Op::pop_jump_if_true_ || !sequence(after + 1, {Op::reraise_})) return Shape::unknown;
      if (!sequence(code_[after].target, {Op::pop_top_, Op::pop_except_, Op::pop_top_, Op::pop_top_}, &follow))
        return Shape::unknown;
      if (with_self && !sequence(follow, {Op::pop_top_}, &follow)) return Shape::unknown;
      return Shape::with;
    }
    return except_or_finally(after);
  }

  // Distinguishes an except clause from a finally clause by the instructions from `at` on. An except clause tests the
  // type of the exception, or pops the exception, before it does anything else.
  Shape except_or_finally(int at) const {
    // The number of values above the exception.
    int depth = 0;
    for (at = skip(at); at < count_; ++at) {
      const Instruction& instruction = code_[at];
      if (instruction.op == Op::nop_) continue;
      if (depth == 1 && instruction.op == Op::check_exc_match_) return Shape::except;
      if (depth == 1 && instruction.op == Op::check_eg_match_) return Shape::except_star;
      if (depth == 0) {
        if (instruction.op == Op::pop_top_) return Shape::except;
        if (instruction.op == Op::store_fast_ || instruction.op == Op::store_name_) return Shape::except;
      }
      if (!falls_through(instruction.op)) return Shape::finally;
      if (instruction.target >= 0) return type_of_parts(at, depth);
      StackEffect effect = stack_effect(instruction, unwound_version, false);
      if (effect.pops > depth) return Shape::finally;
      depth += effect.pushes - effect.pops;
      // If no value is left above the exception, a whole statement has ended, so the handler is the body of a finally
      // clause.
      if (depth == 0) return Shape::finally;
    }
    return Shape::finally;
  }

  // Classifies a handler that branches before it tests the type of the exception, as in `except A or B` and `except A
  // if c else B`. The handler is an except clause if some path reaches CHECK_EXC_MATCH with one value above the
  // exception, as no path through a finally body does.
  Shape type_of_parts(int from, int from_depth) const {
    Table<std::pair<int, int>> todo{{from, from_depth}};
    std::unordered_set<int> seen;
    while (!todo.empty() && seen.size() < search_limits::type_instructions) {
      auto [at, depth] = todo.back();
      todo.pop_back();
      if (at >= count_ || depth < 0 || !seen.insert(at).second) continue;
      const Instruction& instruction = code_[at];
      if (depth == 1 && instruction.op == Op::check_exc_match_) return Shape::except;
      if (depth == 1 && instruction.op == Op::check_eg_match_) return Shape::except_star;
      auto after = [&](bool jump) {
        StackEffect effect = stack_effect(instruction, unwound_version, jump);
        return effect.pops > depth ? -1 : depth - effect.pops + effect.pushes;
      };
      if (instruction.target >= 0) todo.push_back({instruction.target, after(true)});
      if (falls_through(instruction.op)) todo.push_back({at + 1, after(false)});
    }
    return Shape::finally;
  }

  Cfg& cfg_;
  const Row<const Instruction, InstructionIndex> code_;
  const Jumps& jumps_;
  const Table<char>& reachable_;
  const int count_;  // number of instructions
  // Maps each instruction to the index of the group that covers it, or to -1 if no group does.
  Table<int> cover_;
  Table<Group> groups_;
  bool too_deep_ = false;
};

}  // namespace

void build_regions(Cfg& cfg, const Table<ProtectedRange>& ranges, const Flow& flow, const Table<char>& reachable) {
  if (ranges.empty()) cfg.region_of.assign(cfg.code.size(), -1);
  else RegionBuilder(cfg, ranges, flow, reachable).run();
}

}  // namespace depyf
