// Builds the basic blocks of the graph, threads jumps, and puts a setup block, which branches to the body and to the
// handler, in front of each region. Block building, jump threading and setup blocks are in one file because all of them
// use one map from instructions to blocks.
#include "flow/cfg.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "decode/op.h"
#include "decode/op_table.h"
#include "flow/except_star.h"
#include "flow/exception_regions.h"
#include "flow/idioms.h"
#include "flow/jumps.h"
#include "flow/ranges.h"
#include "flow/search.h"
#include "support/branch_free.h"
#include "support/dominators.h"
#include "support/marks.h"
#include "support/search_limits.h"
#include "support/table.h"

namespace depyf {
namespace {

// True if a pass may have added a jump target to an instruction. Targets are added only by the rewrites of match
// statements, inlined comprehensions, `except*` clauses, `async for`, and the test in front of `all(...)` (3.14).
bool may_have_more_turns(const Cfg& cfg) {
  return !cfg.patterns.empty() || !cfg.comprehensions.empty() ||
         cfg.ops.has<Op::check_eg_match_, Op::get_anext_, Op::load_common_constant_>();
}

// Returns the control flow of `code`, in which copies of finally bodies are not skipped yet. `turns` lists the
// instructions of the decoded code that jump or do not fall through, including instructions that passes have removed.
Flow flow_of(Row<const Instruction, InstructionIndex> code, Turns turns) {
  Flow flow;
  flow.next.resize(code.size());
  std::iota(flow.next.begin(), flow.next.end(), 1);
  flow.jumps = std::move(turns.jumps), flow.stops = std::move(turns.stops);
  flow.stops.keep_if([&](int stop) {
    const bool falls = falls_through(code[stop].op);
    flow.next[stop] = falls ? stop + 1 : -1;
    return !falls;
  });
  // The last instruction of decoded code does not fall through, but a pass may have replaced this instruction.
  if (falls_through(code.back().op)) flow.next[code.size() - 1] = -1, flow.stops.add(int(code.size()) - 1);
  return flow;
}

// Finds the instructions that control can reach without going backward: by falling through, by a jump to a later
// instruction, or by an exception whose handler lies behind the instruction that raises. Sets the elements of
// `reachable` for all other instructions to 0; all elements must be 1 before the call. The search counts a jump or
// exception even if control cannot reach the instruction that causes it, and ignores a jump or exception that leads
// backward. Returns true if the result is right for all control flow: all jumps, all jump targets, all handlers, and
// the first instruction of each range that is no NOP were found to be reachable. `ranges` must be sorted and must not
// overlap.
bool mark_forward(Row<const Instruction, InstructionIndex> code, const Flow& flow, const Table<ProtectedRange>& ranges,
                  Table<char>& reachable) {
  Marks entered(code.size() + 1);
  for (const int jump : flow.jumps) {
    // For a jump backward, or a jump without a target, instruction 0 is added to `entered`, because that takes no
    // branch. Adding instruction 0 has no effect, because control always reaches instruction 0.
    const int target = code[jump].target;
    entered.add(select(target > jump, target, 0));
  }
  const auto first_of = [&](const ProtectedRange& range) {
    int first = range.begin;
    const int end = std::min(int(range.end), int(code.size()));
    while (first < end && code[first].op == Op::nop_) ++first;  // NOPs raise nothing
    return first < end ? first : int(code.size());
  };
  for (const ProtectedRange& range : ranges) entered.add(select(range.target > first_of(range), range.target, 0));
  entered.add(int(code.size()));
  bool are_all_reachable = true;
  for (const int stop : flow.stops) {
    if (entered.has(stop + 1)) continue;
    std::fill(reachable.begin() + stop + 1, reachable.begin() + entered.next(stop + 1), false);
    are_all_reachable = false;
  }
  if (are_all_reachable) return true;
  bool is_right = true;
  for (const int jump : flow.jumps) {
    const int target = code[jump].target;
    is_right &= (target < 0) | ((reachable[jump] & reachable[std::max(target, 0)]) != 0);
  }
  for (const ProtectedRange& range : ranges) {
    const int first = first_of(range);
    if (first < int(code.size())) is_right &= (reachable[first] & reachable[range.target]) != 0;
  }
  return is_right;
}

// Returns a table with 1 for each instruction that can be reached, also through the handlers of `ranges`, and 0 for
// others.
Table<char> reachable_instructions(Row<const Instruction, InstructionIndex> code, const Flow& flow,
                                   const Table<ProtectedRange>& ranges) {
  // The elements are `char`, because several elements are read for each instruction, and reading a `vector<bool>` is
  // slower.
  Table<char> seen(code.size() + 1, true);
  seen.back() = false;
  // `mark_forward` succeeds for almost all code that compilers emit; the general search below is only for other code.
  const auto is_behind = [](const ProtectedRange& range, const ProtectedRange& next) { return next.begin < range.end; };
  if (std::ranges::adjacent_find(ranges, is_behind) == ranges.end() && mark_forward(code, flow, ranges, seen))
    return seen;
  std::ranges::fill(seen, false);
  Table<int> todo{0};
  Table<bool> range_seen(ranges.size());
  const Table<int> cover = first_cover(ranges, code.size(), [](const ProtectedRange&) { return true; });
  const int count = int(code.size());
  while (!todo.empty()) {
    int at = todo.back();
    todo.pop_back();
    for (; at >= 0 && at < count && !seen[at]; at = flow.next[at]) {
      seen[at] = true;
      if (code[at].target >= 0) todo.push_back(code[at].target);
      if (int range = cover[at]; range >= 0 && !range_seen[range] && code[at].op != Op::nop_) {
        range_seen[range] = true;
        todo.push_back(ranges[range].target);
      }
    }
  }
  return seen;
}

// True if the code is one basic block: it has no jumps and no exception ranges, and only its last instruction does not
// fall through. `turns` is the result of `find_turns` for the decoded code. Passes add no jump to code without jumps,
// and no instruction that does not fall through.
bool is_straight(const Cfg& cfg, const Turns& turns, const Table<ProtectedRange>& ranges) {
  return turns.jumps.empty() && turns.stops.size() == 1 && ranges.empty() && cfg.patterns.empty() &&
         !cfg.ops.has<Op::pop_except_>() && !falls_through(cfg.code.back().op);
}

// Makes the graph of code that is one basic block, without the steps that a general graph needs.
void make_one_block(Cfg& cfg) {
  cfg.blocks.emplace_back().end = int(cfg.code.size());
  cfg.order.push_back(0);
  cfg.order_index.push_back(0);
}

// Builds blocks, then threads jumps, and then adds setup blocks.
class Builder {
 public:
  Builder(const DecodedCode& decoded, Cfg& cfg, const Flow& flow, const Table<char>& reachable)
      : decoded_(decoded),
        cfg_(cfg),
        code_(cfg.code),
        flow_(flow),
        reachable_(reachable),
        count_(int(code_.size())),
        leaders_(code_.size() + 1),
        exits_(flow.stops.size()),
        block_at_(code_.size() + 1, -1) {}

  // True if the POP_TOP at `at` drops the iterator of a `for` loop that `break` leaves, and is followed directly by a
  // copy of the code behind the loop. The POP_TOP of a `break` lies behind the last instruction of a statement, and the
  // function does not end right behind the POP_TOP. A loop `for x in a: break`, with the code <rest> behind the loop,
  // compiles to:
  //
  //  FOR_ITER E; STORE x; ...; POP_TOP; <copy of rest>; E: <rest>.
  bool is_break(int at) const {
    // Returns the next instruction from `from` in direction `step` that is not a NOP.
    auto plain = [&](int from, int step) {
      while (from > 0 && from + 1 < count_ && code_[from].op == Op::nop_) from += step;
      return from;
    };
    int before = plain(at - 1, -1);
    if (before < 0 || !cfg_.ops.has<Op::for_iter_>() || !ends_statement(code_[before].op)) return false;
    while (before > 0 && code_[before].op == Op::pop_top_) before = plain(before - 1, -1);
    if (code_[before].op == Op::pop_except_ || at + 1 >= count_) return false;
    const int next = plain(at + 1, 1);
    const Op after = code_[next].op;
    constexpr OpSet constants = {Op::load_const_, Op::load_int_, Op::load_common_constant_};
    if (constants.has(after) && next + 1 < count_) return code_[plain(next + 1, 1)].op != Op::return_value_;
    // `a, _, _ = v` also contains a POP_TOP in front of a store, so a store behind the POP_TOP is no sign of a `break`.
    return after != Op::return_value_ && after != Op::jump_ && after != Op::pop_top_ && !is_store_name(after);
  }

  // True if `op` is a store or POP_TOP, in which many statements end.
  static bool ends_statement(Op op) {
    constexpr OpSet ends = {Op::pop_top_, Op::store_attr_, Op::store_subscr_, Op::store_slice_};
    return is_store_name(op) || ends.has(op);
  }

  // Cuts the code into basic blocks and connects them.
  void blocks(GraphForm form) {
    find_leaders();
    // The compiler copies short exits of the function such as `return x`; edges to a copy are redirected to its
    // original.
    const bool joins_unsure = form == GraphForm::statements_with_ends_joined;
    auto [original, is_unsure] = find_exit_copies(cfg_, flow_, exits_, reachable_, decoded_, joins_unsure);
    if (form == GraphForm::statements_with_ends_apart) original = {};
    cfg_.has_guessed_ends = is_unsure;
    Table<int> copies;
    for (int at = 0; at < int(original.size()); ++at)
      if (original[at] >= 0) leaders_.add(at), leaders_.add(original[at]), copies.push_back(at);
    cfg_.has_guessed_ends |= !copies.empty();
    cut();
    connect();
    if (!copies.empty()) lead_to_originals(original, copies);
    cfg_.entry = block_at_[0];
  }

  // Sets the handler block of each region, for a graph without setup blocks.
  void handlers() {
    for (Region& region : cfg_.regions)
      if (region.handler_at >= 0 && region.handler_at < count_) region.handler = block_at_[region.handler_at];
  }

  // Redirects each edge that leads to an unconditional jump, so that the edge leads to the target of the jump, as the
  // compiler itself does when it threads jumps. Merges the copies of one `return` of a constant, or of the end of a
  // finally clause, into one block.
  void thread() {
    const bool has_passed = find_passed();
    const Table<int> same = equal_ends();
    if (!has_passed && same.empty()) return;
    for (BasicBlock& block : cfg_.blocks) {
      if ((passed_[block.next] | passed_[block.jump]) == 0) continue;
      const auto thread_edge = [&](BlockIndex& to) {
        if (to < 0) return;
        if (passed_[to] == passes_on) to = threaded(to, block.region);
        if (!same.empty() && same[to] >= 0 && cfg_.blocks[same[to]].begin > block.begin) to = same[to];
      };
      thread_edge(block.next), thread_edge(block.jump);
    }
  }

  // Adds a setup block in front of the entry of each region. Inner regions are handled first, because the edges of an
  // inner region's setup block may enter the outer region.
  void setups() {
    if (cfg_.regions.empty()) return;
    entering_.resize(cfg_.regions.size());
    done_.resize(cfg_.regions.size());
    enter({-1, false});
    const Row<const BasicBlock> blocks(cfg_.blocks);
    for (int index = 0; const BasicBlock& block : blocks) {
      // A single branch skips a block if neither of its edges enters a region, as for most blocks. `enters` contains no
      // branch even though an edge may not exist.
      const auto enters = [&](int to) {
        const int region = blocks[std::max(to, 0)].region;
        return (to >= 0) & (region >= 0) & (region != block.region);
      };
      if (enters(block.next) | enters(block.jump)) enter({index, false}), enter({index, true});
      ++index;
    }
    // Sort the regions by nesting depth, the innermost first. The depths of a region and of its parents are computed
    // together, and stored in `depth`.
    Table<int> order(cfg_.regions.size()), depth(cfg_.regions.size(), -1);
    for (RegionIndex region = 0; region < int(cfg_.regions.size()); ++region) {
      order[region] = region;
      int count = 0;
      RegionIndex outer = region;
      for (; outer >= 0 && depth[outer] < 0; outer = cfg_.regions[outer].parent) ++count;
      if (outer >= 0) count += depth[outer] + 1;
      for (outer = region; outer >= 0 && depth[outer] < 0; outer = cfg_.regions[outer].parent) depth[outer] = --count;
    }
    std::ranges::sort(order, {}, [&](int region) { return std::pair(-depth[region], region); });
    for (RegionIndex region : order) setup(region);
  }

 private:
  // Marks the instructions that start a block, and collects in `exits_` the reachable instructions that leave the
  // function. An instruction starts a block if a jump leads to it, if the instruction in front of it jumps or does not
  // fall through to it, or if it lies in another region than the instruction in front of it.
  void find_leaders() {
    // If a target or a next instruction does not exist, the loops below add instruction 0 instead, because that takes
    // no branch. Adding instruction 0 has no effect, because it always starts a block.
    leaders_.add(0), leaders_.add(count_);
    for (const int at : flow_.jumps) {
      const int target = code_[at].target;
      leaders_.add(std::max(target, 0)), leaders_.add(select(target >= 0, at + 1, 0));
    }
    for (const int at : flow_.stops) {
      leaders_.add(at + 1), leaders_.add(std::max(int(flow_.next[at]), 0));
      exits_.add_if((reachable_[at] != 0) & leaves_function(code_[at].op), at);
    }
    if (cfg_.ops.has<Op::for_iter_, Op::pop_except_, Op::behind_handlers_>() || !cfg_.patterns.empty())
      find_statement_ends();
    if (cfg_.regions.empty()) return;
    const Row<const RegionIndex> region_of(cfg_.region_of);
    leaders_.add_each(count_, [&](int at) { return region_of[at] != region_of[std::max(at - 1, 0)]; });
    for (const Region& region : cfg_.regions) {
      if (region.handler_at >= 0) leaders_.add(region.handler_at);
      if (region.follow_at >= 0) leaders_.add(region.follow_at);
    }
  }

  // Marks further instructions that start a block, because a part of a statement ends in front of them without a jump.
  void find_statement_ends() {
    static constexpr OpTable<bool> ends(
        false, {{{Op::match_case_, Op::behind_handlers_, Op::pop_except_, Op::pop_top_}, true}});
    for_each_marked(code_, ends, [&](int at) {
      const Op op = code_[at].op;
      if (op == Op::pop_top_) {
        if (is_break(at)) leaders_.add(at + 1);
      } else if (op == Op::pop_except_) {
        leaders_.add(after_pop_except(at));
      } else if (op == Op::match_case_) {
        leaders_.add(at + 1);
      } else if (op == Op::behind_handlers_ && (code_[at].arg & behind_else_end) != 0) {
        leaders_.add(at);
      }
    });
  }

  // Makes a block of each reachable run of instructions from one leader to the next.
  void cut() {
    cfg_.blocks.reserve(leaders_.size() + cfg_.regions.size());  // `setup` adds at most one block for a region
    for (int at = 0; at < count_;) {
      const int end = leaders_.next(at + 1);
      if (reachable_[at]) {
        block_at_[at] = int(cfg_.blocks.size());
        BasicBlock& block = cfg_.blocks.emplace_back();
        block.begin = at, block.end = end, block.region = cfg_.region_of[at];
      }
      at = end;
    }
  }

  // Returns the first instruction of the block other than NOP, RESUME and JUMP, or -1 if the block contains no other
  // instruction.
  int first_action(const BasicBlock& block) const {
    for (int at = block.begin; at < block.end; ++at)
      if (is_action(code_[at].op)) return at;
    return -1;
  }
  static bool is_action(Op op) {
    static constexpr OpTable<bool> actions(true, {{{Op::nop_, Op::resume_, Op::jump_}, false}});
    return actions[op];
  }

  // Fills `passed_`, which marks the blocks that only continue at another block. Returns false if all elements of
  // `passed_` are zero.
  bool find_passed() {
    passed_ = {cfg_.blocks.size(), 0};
    bool has_passed = false;
    for (const int index : silent_)
      if (const BasicBlock& block = cfg_.blocks[index]; first_action(block) < 0 && block.next >= 0)
        passed_[index] = passes_on, has_passed = true;
    if (!has_passed) return false;
    // Headers of loops must stay, even if they are empty. The blocks are in the order of their instructions, so an edge
    // can close a loop only if it leads to its own block or to an earlier block.
    bool may_have_header = false;
    int index = 0;
    const auto is_backward = [&](int to) { return (to <= index) & (passed_[to] != 0); };
    for (const BasicBlock& block : cfg_.blocks)
      may_have_header |= is_backward(block.next) | is_backward(block.jump), ++index;
    if (may_have_header) keep_headers();
    return true;
  }

  // Removes the headers of loops from `passed_`. An edge that leads backward need not close a loop: a handler lies
  // behind the code to which it continues. An edge closes a loop if a depth-first search takes it while the block to
  // which it leads is still open.
  void keep_headers() {
    enum class State : char { fresh, open, done };
    Table<State> states(cfg_.blocks.size(), State::fresh);
    Table<BlockIndex> todo{cfg_.entry};
    while (!todo.empty()) {
      const BlockIndex at = todo.back();
      if (states[at] != State::fresh) {
        states[at] = State::done, todo.pop_back();
        continue;
      }
      states[at] = State::open;
      const BasicBlock& block = cfg_.blocks[at];
      const int handler_at = block.region < 0 ? -1 : int(cfg_.regions[block.region].handler_at);
      for (const BlockIndex to : {block.next, block.jump, BlockIndex(block_at_[handler_at])}) {
        if (to < 0) continue;
        if (states[to] == State::fresh) todo.push_back(to);
        if (states[to] == State::open) passed_[to] = 0;
      }
    }
  }

  // Returns the block to which an edge from a block of `region` to the block `to` can be redirected: the first block
  // from `to` on that `passed_` does not mark as `passes_on`, or an earlier block that must stay on the path because
  // its successor lies in another region. Setup blocks have indices behind those in `passed_`, and are never skipped.
  BlockIndex threaded(BlockIndex to, RegionIndex region) const {
    const int count = int(passed_.size());
    for (int steps = 0; steps < search_limits::jump_chain && to < count && passed_[to] == passes_on; ++steps) {
      const BasicBlock& via = cfg_.blocks[to];
      if (via.next == to) break;
      if (via.region != cfg_.blocks[via.next].region && via.region != region) break;
      to = via.next;
    }
    return to;
  }

  // Returns a table that maps a block to the first block that is equal to it, if that is an earlier block, and all
  // other blocks to -1. Two blocks can be equal only if both contain nothing but the `return` of a constant, behind the
  // same number of calls of `__exit__` (3.10), or if both contain nothing but the RERAISE that ends a finally clause.
  // Two returns are equal if constant, line and region agree. Two RERAISEs are equal if argument and region agree. The
  // lines of RERAISEs are not compared, because the RERAISE that ends a finally clause has the line of the test that
  // leads to it. The table is empty if no two blocks are equal.
  Table<int> equal_ends() {
    constexpr int any_line = -1;
    Table<std::pair<std::array<int, 4>, int>> ends;  // the fields that are compared, and the block
    for (const int index : closing_) {
      const BasicBlock& block = cfg_.blocks[index];
      const Instruction& last = code_[block.end - 1];
      int first = first_action(block), exits = 0;
      const bool returns = last.op == Op::return_value_;
      // From a `with` at the end of a function, 3.10 emits the call of `__exit__` and the `return None` for each path
      // that leaves the statement.
      for (; returns && code_[first].op == Op::with_exit_ && code_[first + 1].op == Op::pop_top_; first += 2) ++exits;
      if (returns ? code_[first].op != Op::load_const_ || first + 2 != block.end : first + 1 != block.end) continue;
      // The argument of RERAISE is compared because RERAISE 1 belongs to the cleanup code of a handler within the
      // finally clause.
      const int what = returns ? code_[first].arg : -1 - last.arg, line = returns ? last.line : any_line;
      ends.push_back({{what, line, int(block.region), exits}, index});
    }
    std::ranges::sort(ends);
    Table<int> same;
    for (std::size_t at = 1; at < ends.size(); ++at) {
      const auto& [fields, index] = ends[at];
      const auto& [fields_before, before] = ends[at - 1];
      if (fields != fields_before) continue;
      if (same.empty()) same.assign(cfg_.blocks.size(), -1);
      same[index] = same[before] >= 0 ? same[before] : before;
      passed_[index] = ends_alike;
    }
    return same;
  }

  // Sets the successors of all blocks.
  void connect() {
    static constexpr OpTable<bool> closes(false, {{{Op::return_value_, Op::reraise_}, true}});
    closing_ = Indices(cfg_.blocks.size()), silent_ = Indices(cfg_.blocks.size());
    int index = 0;
    for (BasicBlock& block : cfg_.blocks) {
      const Instruction& last = code_[block.end - 1];
      const int next = block_at_[flow_.next[block.end - 1]], target = block_at_[last.target];
      const bool jumps = (last.op == Op::jump_) & (last.target >= 0);
      block.next = select(jumps, target, next);
      block.jump = select(jumps, -1, target);
      closing_.add_if(closes[last.op], index);
      silent_.add_if(!is_action(last.op), index);
      ++index;
    }
  }

  // Some exits of the function are copies of another exit: redirects all edges that lead to a copy to the original
  // exit. `original` maps the first instruction of each copy to the first instruction of the original exit, and
  // `copies` lists the first instructions of all copies.
  void lead_to_originals(const Originals& original, const Table<int>& copies) {
    const int count = int(cfg_.blocks.size());
    TableFromMinusOne<int> original_of_block(cfg_.blocks.size(), -1);
    for (int index = 0; index < count; ++index) original_of_block[index] = index;
    for (const int at : copies)
      if (const int copy = block_at_[at]; copy >= 0) original_of_block[copy] = block_at_[original[at]];
    for (BasicBlock& block : cfg_.blocks) {
      const int next = original_of_block[block.next], jump = original_of_block[block.jump];
      // The two edges of a block must not lead to one block, so that `x if c else x` keeps its two branches.
      const bool keeps = next == jump;
      block.next = select(keeps, block.next, next), block.jump = select(keeps, block.jump, jump);
    }
    auto original_of = [&](InstructionIndex at) { return at < 0 || original[at] < 0 ? at : original[at]; };
    for (Region& region : cfg_.regions) region.follow_at = original_of(region.follow_at);
  }

  // Returns the instruction behind the POP_EXCEPT at `at`. At the end of `except T as e`, the LOAD_CONST None; STORE e;
  // DELETE e behind the POP_EXCEPT is skipped as well.
  int after_pop_except(int at) const {
    if (at + 3 < count_ && code_[at + 1].op == Op::load_const_ && is_store_name(code_[at + 2].op) &&
        code_[at + 3].op == delete_of(code_[at + 2].op) && code_[at + 2].arg == code_[at + 3].arg)
      return at + 4;
    return at + 1;
  }

  // One of the two edges of a block. The edge of block -1 leads to the entry of the function.
  struct Edge {
    BlockIndex block;
    bool jump;
  };
  BlockIndex& target(Edge edge) {
    if (edge.block < 0) return cfg_.entry;
    BasicBlock& block = cfg_.blocks[edge.block];
    return edge.jump ? block.jump : block.next;
  }

  // Redirects an edge that enters regions to the setup block of the innermost of these regions, then to that of the
  // next outer region, and so on. If a region has no setup block yet, the edge is added to the list of the region in
  // `entering_`, and is redirected when the setup block has been made.
  void enter(Edge edge) {
    BlockIndex& to = target(edge);
    if (to < 0) return;
    const RegionIndex from = edge.block < 0 ? RegionIndex() : cfg_.blocks[edge.block].region;
    for (RegionIndex region = cfg_.blocks[to].region; region >= 0 && !cfg_.inside(from, region);
         region = cfg_.regions[region].parent) {
      if (!done_[region]) return entering_[region].push_back(edge);
      if (const BlockIndex made = cfg_.regions[region].setup; made >= 0 && cfg_.blocks[made].next == to) to = made;
    }
  }

  // Makes the setup block of `region`, and redirects all edges that enter the region to the setup block.
  void setup(RegionIndex region) {
    Region& info = cfg_.regions[region];
    Table<Edge> edges = std::move(entering_[region]);
    int entry = -1;
    // All edges from outside must enter the region at one instruction, since a statement has only one entry.
    if (info.kind != Region::Kind::handler)
      for (Edge edge : edges) {
        if (edge.jump && cfg_.blocks[edge.block].kind == BasicBlock::Kind::setup &&
            cfg_.regions[cfg_.blocks[edge.block].setup_of].kind != Region::Kind::with)
          // The jump of the setup block of a try statement leads to a handler, which is no entry of the body of
          // `region`.
          continue;
        if (entry >= 0 && entry != target(edge)) cfg_.odd_regions = true;
        entry = target(edge);
      }
    done_[region] = true;
    if (entry >= 0) {
      const int index = int(cfg_.blocks.size());
      BasicBlock made;
      made.kind = BasicBlock::Kind::setup, made.setup_of = region, made.region = info.parent, made.next = entry;
      made.begin = made.end = cfg_.blocks[entry].begin;
      const int handler = info.kind == Region::Kind::with ? info.follow_at : info.handler_at;
      made.jump = handler >= 0 && handler < count_ ? block_at_[handler] : -1;
      // The edge to the code behind a with statement is threaded like the normal exit, so that both exits lead to the
      // same block.
      if (info.kind == Region::Kind::with && made.jump >= 0) made.jump = threaded(made.jump, info.parent);
      cfg_.blocks.push_back(made);
      for (Edge edge : edges)
        if (target(edge) == entry) target(edge) = index;
      info.setup = index;
      enter({index, true});
      info.handler = cfg_.blocks[index].jump;
    }
    for (Edge edge : edges) enter(edge);
  }

  const DecodedCode& decoded_;
  Cfg& cfg_;
  const Row<const Instruction, InstructionIndex> code_;
  const Flow& flow_;
  const Table<char>& reachable_;
  const int count_;  // number of instructions
  Marks leaders_;  // the instructions that start a block, and `count_`
  Indices exits_;  // the instructions that leave the function and can be reached
  // Maps each instruction where a block starts to this block, and all other instructions to -1.
  TableFromMinusOne<int> block_at_;
  Indices closing_;  // the blocks that end in RETURN_VALUE or RERAISE
  Indices silent_;  // the blocks that end in a NOP, RESUME or JUMP
  // Indexed by block. An element is `passes_on` if the block does nothing but continue at another block, and is no
  // header of a loop. An element is `ends_alike` if `equal_ends` maps the block to an earlier block. An element is 0
  // for any other block. Setup blocks have no elements in the table.
  TableFromMinusOne<char> passed_;
  static constexpr char passes_on = 1, ends_alike = 2;
  Table<Table<Edge>> entering_;  // the edges that enter each region from outside
  // Indexed by region: true once `setup` has been called for the region.
  Table<bool> done_;
};

struct BlockEdge {
  BlockIndex from, to;
};

// The results of the depth-first search of a graph apart from the order of its blocks.
struct Search {
  static constexpr int fresh = -1, open = 0;
  struct Visited {
    // `fresh` until the search reaches the block, then `open` until the search has finished the block, and then the
    // index of the block in the order. The index counts from the start of a table that has room for all blocks of the
    // graph. When the search is done, `find_order` removes the unused start of the table, which is the room for the
    // unreachable blocks.
    int place = fresh;
    int preds = 0;  // the number of predecessors of the block
  };

  // Block -1, which stands for a missing successor, counts as reached, so that the search does not visit it.
  explicit Search(std::size_t count) : visited(count, Visited()) { visited[-1].place = open; }

  TableFromMinusOne<Visited> visited;
  int edges = 0;  // the number of predecessors of all blocks together
  int first = 0;  // the value of `Visited::place` of the entry, which is the first block of the order
};

// Returns the second successor of the block; -1 if the block has no second successor, or if both successors are the
// same block.
int other_successor(const BasicBlock& block) { return select(int(block.jump) != int(block.next), block.jump, -1); }

// Fills `order` with the reachable blocks in reverse postorder, by a depth-first search. The jump of a block is visited
// first, so that the block to which control falls through comes first in reverse postorder.
Search find_order(Cfg& cfg) {
  const int count = int(cfg.blocks.size());
  Search search(cfg.blocks.size());
  TableFromMinusOne<Search::Visited>& visited = search.visited;
  // The table `order` also holds the stack of the search, which grows from the start of the table, while the order is
  // filled from its end. The table has room for both, because a block is in only one of them.
  cfg.order.resize(count);
  const Row<BlockIndex> order(cfg.order);
  const Row<const BasicBlock, BlockIndex> blocks(cfg.blocks);
  int depth = 0, first = count;
  const auto enter = [&](int block) {
    const int next = blocks[block].next, jump = other_successor(blocks[block]);
    visited[block].place = Search::open;
    ++visited[next].preds, ++visited[jump].preds;
    search.edges += (next >= 0) + (jump >= 0);
    order[depth++] = block;
  };
  enter(cfg.entry);
  while (depth > 0) {
    const int block = order[depth - 1], next = blocks[block].next, jump = blocks[block].jump;
    // Selecting one of the successors before the branch saves a branch that the processor could not predict.
    const int to = select(visited[jump].place == Search::fresh, jump, next);
    if (visited[to].place == Search::fresh) {
      enter(to);
    } else {
      --depth;
      order[--first] = block, visited[block].place = first;
    }
  }
  // Unreachable blocks are not part of the order.
  if (first > 0) cfg.order.erase(cfg.order.begin(), cfg.order.begin() + first);
  search.first = first;
  return search;
}

// Fills `order_index`, and the list of predecessors (`preds`) of each block. Marks the headers of loops, and returns
// the edges that close the loops.
Table<BlockEdge> find_preds(Cfg& cfg, Search& search) {
  // The list `pred_lists` gets an additional last element. If a block lacks a successor, `add` writes to the last
  // element of the list, because that takes no branch.
  cfg.pred_lists.resize(search.edges + 1);
  cfg.order_index.resize(cfg.blocks.size());
  const Row<BlockIndex> lists(cfg.pred_lists);
  const Row<int> order_index(cfg.order_index);
  TableFromMinusOne<Search::Visited>& visited = search.visited;
  // From here on, the member `preds` of `Visited` is the index in `lists` to which the next predecessor of the block is
  // written.
  visited[-1].preds = search.edges;
  int next_list = 0, index = 0;
  for (BasicBlock& block : cfg.blocks) {
    Search::Visited& counts = visited[index];
    block.preds = Row<const BlockIndex>(lists).part(next_list, counts.preds);
    next_list += std::exchange(counts.preds, next_list);
    order_index[index++] = std::max(counts.place - search.first, -1);
  }
  const auto add = [&](int to, BlockIndex from) { lists[visited[to].preds] = from, visited[to].preds += to >= 0; };
  Table<BlockEdge> back_edges;
  for (const BlockIndex from : cfg.order) {
    const int next = cfg.blocks[from].next, jump = other_successor(cfg.blocks[from]);
    add(next, from), add(jump, from);
    const auto is_back = [&](int to) { return (to >= 0) & (order_index[or_zero(to)] <= order_index[from]); };
    if (int{is_back(next)} + int{is_back(jump)} == 0) continue;
    for (const int to : {next, jump})
      if (is_back(to)) back_edges.push_back({from, to}), cfg.blocks[to].is_loop_header = true;
  }
  cfg.pred_lists.pop_back();
  return back_edges;
}

// True if some loop can be entered other than at its header, which means that the target of one of `back_edges` does
// not dominate the source of that edge.
bool has_second_entry(const Cfg& cfg, const Table<BlockEdge>& back_edges) {
  if (back_edges.empty()) return false;
  Table<BlockIndex, BlockIndex> idom(cfg.blocks.size());
  immediate_dominators<BlockIndex>(
      cfg.order, cfg.order_index, [&](BlockIndex block) { return cfg.blocks[block].preds; }, idom);
  return std::ranges::any_of(back_edges, [&](const BlockEdge& edge) {
    BlockIndex above = edge.from;
    while (cfg.order_index[above] > cfg.order_index[edge.to]) above = idom[above];
    return above != edge.to;
  });
}

}  // namespace

void analyse(Cfg& cfg) {
  Search search = find_order(cfg);
  cfg.irreducible = has_second_entry(cfg, find_preds(cfg, search));
}

Cfg build_cfg(const DecodedCode& decoded, GraphForm form) {
  Cfg cfg;
  build_cfg(decoded, find_turns(decoded.instructions), form, cfg);
  return cfg;
}

void build_cfg(const DecodedCode& decoded, Turns turns, GraphForm form, Cfg& cfg) {
  const bool structured = form != GraphForm::instructions;
  cfg.code = decoded.instructions, cfg.ops = turns.ops;
  Table<ProtectedRange> ranges = decoded.ranges;
  const SurveyedOps& ops = cfg.ops;
  const bool has_copies = simplify_idioms(decoded, ops, turns.jumps, cfg.code, ranges);
  // An inlined comprehension that hides a local variable (LOAD_FAST_AND_CLEAR) cannot be written as other Python code,
  // so it is moved into code of its own even for `GraphForm::instructions`.
  if (ops.has<Op::swap_>() && (structured || ops.has<Op::load_fast_and_clear_>()))
    outline_comprehensions(decoded, cfg.code, ranges, cfg.comprehensions);
  if (structured) {
    if (ops.has<Op::check_eg_match_>()) simplify_except_star(cfg.code, ranges);
    if (has_copies || ops.has<Op::match_sequence_, Op::match_mapping_, Op::match_class_>())
      find_matches(decoded, cfg.code, cfg.patterns);
  }
  // Most code objects consist of one basic block.
  if (is_straight(cfg, turns, ranges)) {
    make_one_block(cfg);
    return;
  }
  Flow flow = flow_of(cfg.code, may_have_more_turns(cfg) ? find_turns(cfg.code) : std::move(turns));
  const Table<char> reachable = reachable_instructions(cfg.code, flow, ranges);
  if (structured) {
    build_regions(cfg, ranges, flow, reachable);
    remove_finally_copies(cfg, flow, reachable, decoded);
  } else {
    for (Instruction& it : cfg.code)
      // The target of a reraise only records which code follows it in the source. Control never continues at the target
      // of a reraise.
      if (it.op == Op::reraise_) it.target = -1;
    cfg.region_of.assign(cfg.code.size(), -1);
    std::map<std::pair<int, int>, int> by_target;
    for (const ProtectedRange& range : ranges) {
      auto [found, fresh] = by_target.emplace(std::pair(range.target, range.depth), int(cfg.regions.size()));
      if (fresh) {
        Region region;
        region.handler_at = range.target, region.depth = range.depth, region.lasti = range.lasti;
        cfg.regions.push_back(region);
      }
      for (int at = range.begin; at < range.end && at < int(cfg.code.size()); ++at)
        if (cfg.region_of[at] < 0) cfg.region_of[at] = found->second;
    }
  }
  Builder builder(decoded, cfg, flow, reachable);
  builder.blocks(form);
  if (structured) {
    builder.thread();
    builder.setups();
  } else {
    builder.handlers();
  }
  cfg.jumps = std::move(flow.jumps);
  analyse(cfg);
}

}  // namespace depyf
