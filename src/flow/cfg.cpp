// Builds the basic blocks of the graph, threads jumps, and puts a setup block in front of each region. Block
// building, jump threading and setup blocks are in one file because all of them use one map from instructions to
// blocks.
#include "flow/cfg.h"

#include <algorithm>
#include <array>
#include <map>
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
#include "support/dominators.h"
#include "support/marks.h"
#include "support/search_limits.h"
#include "support/table.h"

namespace depyf {
namespace {

// True if a pass may have added a target to an instruction, or turned it into a jump: `match_case`, the loop of an
// outlined comprehension, the clauses of `except*`, `async for`, and the test in front of `all(...)` (3.14). Other
// rewrites only remove turns.
bool may_have_more_turns(const Cfg& cfg) {
  return !cfg.patterns.empty() || !cfg.comprehensions.empty() ||
         cfg.ops.has<Op::check_eg_match_, Op::get_anext_, Op::load_common_constant_>();
}

// Returns the control flow of `code`, which does not skip copies of finally bodies yet. `turns` are those of
// the decoded code; passes may have removed some of them.
Flow flow_of(Row<const Instruction, InstructionIndex> code, Turns turns) {
  Flow flow;
  flow.next.resize(code.size());
  std::iota(flow.next.begin(), flow.next.end(), 1);
  flow.jumps = std::move(turns.jumps), flow.stops = std::move(turns.stops);
  std::erase_if(flow.stops, [&](InstructionIndex at) { return falls_through(code[at].op); });
  // The last instruction of decoded code does not fall through, but a pass may have replaced it.
  if (falls_through(code.back().op)) flow.stops.push_back(code.size() - 1);
  for (const InstructionIndex stop : flow.stops) flow.next[stop] = -1;
  return flow;
}

// Marks the instructions that a single walk from the start to the end of the code finds to be reachable. Behind an
// instruction without fall-through, the walk skips to the next known target of a jump or exception range. Returns false
// if a jump or exception range leads back to code that was skipped, so that one walk is not enough. `ranges` must be
// sorted and must not overlap.
bool walk_forward(Row<const Instruction, InstructionIndex> code, const Flow& flow, const Table<ProtectedRange>& ranges,
                  Table<char>& reachable) {
  Table<char> entered(code.size() + 1);
  auto jump = flow.jumps.begin();
  auto range = ranges.begin();
  int at = 0;
  for (const int stop : flow.stops) {
    if (stop < at) continue;
    std::fill(reachable.begin() + at, reachable.begin() + stop + 1, true);
    const auto is_ahead_or_reached = [&](int target) {
      entered[target] = true;
      return target > stop || reachable[target];
    };
    for (; jump != flow.jumps.end() && *jump <= stop; ++jump)
      if (const int target = code[*jump].target; *jump >= at && target >= 0 && !is_ahead_or_reached(target))
        return false;
    for (; range != ranges.end(); ++range) {
      int first = std::max<int>(range->begin, at);  // NOPs raise nothing
      while (first < range->end && first <= stop && code[first].op == Op::nop_) ++first;
      if (first > stop) break;
      if (first < range->end && !is_ahead_or_reached(range->target)) return false;
    }
    at = int(std::find(entered.begin() + stop + 1, entered.end(), true) - entered.begin());
  }
  return true;
}

// Returns 1 for each instruction that can be reached, also through the handlers of `ranges`.
Table<char> reachable_instructions(Row<const Instruction, InstructionIndex> code, const Flow& flow,
                                   const Table<ProtectedRange>& ranges) {
  // The elements are `char`, as `vector<bool>` would be slower: they are read several times for each instruction.
  Table<char> seen(code.size() + 1);
  // One forward walk is enough for almost all code that compilers emit.
  const auto is_behind = [](const ProtectedRange& range, const ProtectedRange& next) { return next.begin < range.end; };
  if (std::ranges::adjacent_find(ranges, is_behind) == ranges.end() && walk_forward(code, flow, ranges, seen))
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
// fall through. `jumps` are the jumps of the decoded code; passes add no jump to code without jumps.
bool is_straight(const Cfg& cfg, const Jumps& jumps, const Table<ProtectedRange>& ranges) {
  if (!jumps.empty() || !ranges.empty() || !cfg.patterns.empty() || cfg.ops.has<Op::pop_except_>()) return false;
  const auto falls = [](const Instruction& instruction) { return falls_through(instruction.op); };
  return std::find_if_not(cfg.code.begin(), cfg.code.end(), falls) == cfg.code.end() - 1;
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
        block_at_(code_.size() + 1, -1) {}

  // True if the POP_TOP at `at` drops the iterator of a `for` loop that `break` leaves, and is followed directly by a
  // copy of the code behind the loop. The POP_TOP of a `break` lies behind the last instruction of a statement, and the
  // function does not end right behind it.
  //
  //   for x in a:        FOR_ITER E; STORE x; ...
  //       break          POP_TOP; <copy of rest>
  //   <rest>             E: <rest>
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

  // True if many statements end in `op`: a store or POP_TOP.
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
    for (int at = 0; at < int(original.size()); ++at)
      if (original[at] >= 0) leaders_.add(at), leaders_.add(original[at]), cfg_.has_guessed_ends = true;
    cut();
    connect();
    if (!original.empty()) lead_to_originals(original);
    cfg_.entry = block_at_[0];
  }

  // Sets the handler block of each region, for a graph without setup blocks.
  void handlers() {
    for (Region& region : cfg_.regions)
      if (region.handler_at >= 0 && region.handler_at < count_) region.handler = block_at_[region.handler_at];
  }

  // Redirects edges that lead to a jump to the target of the jump, like the jump threading of the compiler. Merges the
  // copies of one `return` of a constant, or of the end of a finally clause, into one block.
  void thread() {
    const bool has_passed = find_passed();
    const Table<int> same = equal_ends();
    if (!has_passed && same.empty()) return;
    for (BasicBlock& block : cfg_.blocks) {
      const auto thread_edge = [&](BlockIndex& to) {
        if (to < 0) return;
        if (passed_[to]) to = threaded(to, block.region);
        if (!same.empty() && same[to] >= 0 && cfg_.blocks[same[to]].begin > block.begin) to = same[to];
      };
      thread_edge(block.next), thread_edge(block.jump);
    }
  }

  // Adds a setup block in front of the entry of each region. Inner regions are handled first, because the edges of an
  // inner region's setup block may enter the region around it.
  void setups() {
    if (cfg_.regions.empty()) return;
    entering_.resize(cfg_.regions.size());
    done_.resize(cfg_.regions.size());
    enter({-1, false});
    for (BlockIndex block = 0; block < int(cfg_.blocks.size()); ++block) enter({block, false}), enter({block, true});
    // Sort the regions by nesting depth, the innermost first. Each chain of parents is counted once.
    Table<int> order(cfg_.regions.size()), depth(cfg_.regions.size(), -1);
    for (RegionIndex region = 0; region < int(cfg_.regions.size()); ++region) {
      order[region] = region;
      int count = 0;
      RegionIndex outer = region;
      for (; outer >= 0 && depth[outer] < 0; outer = cfg_.regions[outer].parent) ++count;
      if (outer >= 0) count += depth[outer] + 1;
      for (outer = region; outer >= 0 && depth[outer] < 0; outer = cfg_.regions[outer].parent) depth[outer] = --count;
    }
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return depth[a] > depth[b]; });
    for (RegionIndex region : order) setup(region);
  }

 private:
  // Marks the instructions that start a block, and collects `exits_`. An instruction starts a block if a jump leads to
  // it, if the instruction in front of it does not simply fall through, or if the two instructions lie in different
  // regions.
  void find_leaders() {
    leaders_.add(0), leaders_.add(count_);
    for (const InstructionIndex at : flow_.jumps)
      if (code_[at].target >= 0) leaders_.add(code_[at].target), leaders_.add(at + 1);
    for (const InstructionIndex at : flow_.stops) {
      leaders_.add(at + 1);
      if (flow_.next[at] >= 0) leaders_.add(flow_.next[at]);
      if (reachable_[at] && leaves_function(code_[at].op)) exits_.push_back(at);
    }
    if (cfg_.ops.has<Op::for_iter_, Op::pop_except_, Op::behind_handlers_>() || !cfg_.patterns.empty())
      find_statement_ends();
    if (cfg_.regions.empty()) return;
    const Row<const RegionIndex> region_of(cfg_.region_of);
    for (int at = 1, count = count_; at < count; ++at)
      if (region_of[at] != region_of[at - 1]) leaders_.add(at);
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
      if (op == Op::match_case_) leaders_.add(at + 1);
      if (op == Op::behind_handlers_ && (code_[at].arg & behind_else_end) != 0) leaders_.add(at);
      if (op == Op::pop_except_) leaders_.add(after_pop_except(at));
      if (op == Op::pop_top_ && is_break(at)) leaders_.add(at + 1);
    });
  }

  // Makes a block of each reachable run of instructions from one leader to the next.
  void cut() {
    cfg_.blocks.reserve(flow_.jumps.size() + flow_.stops.size() + cfg_.regions.size());  // mostly enough
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

  // Returns the first instruction of the block other than NOP, RESUME and JUMP, or -1 if there is none.
  int first_action(const BasicBlock& block) const {
    for (int at = block.begin; at < block.end; ++at)
      if (is_action(code_[at].op)) return at;
    return -1;
  }
  static bool is_action(Op op) { return op != Op::nop_ && op != Op::resume_ && op != Op::jump_; }

  // Fills `passed_`. Returns false if all elements of `passed_` are zero.
  bool find_passed() {
    passed_.resize(cfg_.blocks.size());
    bool has_passed = false;
    BlockIndex index = 0;
    for (const BasicBlock& block : cfg_.blocks) {
      passed_[index] = !is_action(code_[block.end - 1].op) && first_action(block) < 0 && block.next >= 0;
      has_passed |= passed_[index] != 0;
      ++index;
    }
    if (!has_passed) return false;
    // Headers of loops must stay, even if they are empty.
    for (const BasicBlock& block : cfg_.blocks) {
      const auto keep = [&](BlockIndex to) {
        if (to >= 0 && cfg_.blocks[to].begin <= block.begin) passed_[to] = false;
      };
      keep(block.next), keep(block.jump);
    }
    return true;
  }

  // Returns the block to which an edge from a block of `region` to `to` can be redirected: the end of a chain of blocks
  // that `passed_` marks. Setup blocks have indices behind those in `passed_`, and are never passed over.
  BlockIndex threaded(BlockIndex to, RegionIndex region) const {
    const int count = int(passed_.size());
    for (int steps = 0; steps < search_limits::jump_chain && to < count && passed_[to]; ++steps) {
      const BasicBlock& via = cfg_.blocks[to];
      if (via.next == to) break;
      if (via.region != cfg_.blocks[via.next].region && via.region != region) break;
      to = via.next;
    }
    return to;
  }

  // Maps each block that contains only the `return` of a constant, or only the RERAISE that ends a finally clause, to
  // the first equal block, and all other blocks to -1. Two returns are equal if constant, line and region agree. The
  // RERAISE that ends a finally clause has the line of the test that leads to it, so only the regions are compared. The
  // table is empty if no block contains only such a return or RERAISE.
  Table<int> equal_ends() const {
    constexpr int any_line = -1;
    Table<int> same;
    std::map<std::array<int, 3>, int> ends;
    for (const BasicBlock& block : cfg_.blocks) {
      const Instruction& last = code_[block.end - 1];
      if (last.op != Op::return_value_ && last.op != Op::reraise_) continue;
      const int first = first_action(block);
      const bool returns = last.op == Op::return_value_;
      if (returns ? code_[first].op != Op::load_const_ || first + 2 != block.end : first + 1 != block.end) continue;
      if (same.empty()) same.assign(cfg_.blocks.size(), -1);
      // RERAISE 1 belongs to the cleanup code of a handler within the finally clause.
      std::array<int, 3> key{returns ? code_[first].arg : -1 - last.arg, returns ? last.line : any_line, block.region};
      const int index = block_at_[block.begin];
      same[index] = ends.emplace(key, index).first->second;
    }
    return same;
  }

  // Sets the successors of all blocks.
  void connect() {
    for (BasicBlock& block : cfg_.blocks) {
      const Instruction& last = code_[block.end - 1];
      const int next = flow_.next[block.end - 1];
      block.next = next >= 0 ? block_at_[next] : -1;
      if (last.target >= 0) (last.op == Op::jump_ ? block.next : block.jump) = block_at_[last.target];
    }
  }

  // Redirects all edges that lead to copies of exits to the originals of these copies.
  void lead_to_originals(const Originals& original) {
    auto original_of = [&](InstructionIndex at) { return at < 0 || original[at] < 0 ? at : original[at]; };
    // Returns the block of the copied instruction if block `index` starts with the copy of an instruction, and
    // otherwise `index`.
    auto block_of = [&](int index) { return index < 0 ? index : block_at_[original_of(cfg_.blocks[index].begin)]; };
    for (BasicBlock& block : cfg_.blocks) {
      int next = block_of(block.next), jump = block_of(block.jump);
      // The two edges of a block must not lead to one block, so that `x if c else x` keeps its two branches.
      if (next != jump) block.next = next, block.jump = jump;
    }
    for (Region& region : cfg_.regions) region.follow_at = original_of(region.follow_at);
  }

  // Returns the instruction behind the POP_EXCEPT at `at` and behind the LOAD_CONST None; STORE e; DELETE e that
  // follows it at the end of `except T as e`.
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

  // Redirects the edge to the setup blocks of the regions that it enters, from the inside out, and adds it to the list
  // of the first region that has no setup block yet.
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

  // Makes the setup block of `region`, and leads all edges that enter the region to it.
  void setup(RegionIndex region) {
    Region& info = cfg_.regions[region];
    Table<Edge> edges = std::move(entering_[region]);
    int entry = -1;
    // All edges must enter the region at one instruction, since a statement has only one entry.
    if (info.kind != Region::Kind::handler)
      for (Edge edge : edges) {
        if (edge.jump && cfg_.blocks[edge.block].kind == BasicBlock::Kind::setup &&
            cfg_.regions[cfg_.blocks[edge.block].setup_of].kind != Region::Kind::with)
          // The edge leads to a handler, which is not an entry of the body.
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
      // The edge to the code behind a with statement is threaded like the normal exit, so that both lead to the same
      // block.
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
  Table<InstructionIndex> exits_;  // the instructions that leave the function and can be reached
  // Maps each instruction to the block that starts there, or -1.
  Table<int> block_at_;
  // Indexed by block: nonzero if the block only continues at another block, and starts no loop.
  Table<char> passed_;
  Table<Table<Edge>> entering_;  // by region: the edges that enter the region from outside
  // Indexed by region: true once `setup` has been called for the region.
  Table<bool> done_;
};

struct BlockEdge {
  BlockIndex from, to;
};

// The results of the depth-first search of a graph apart from the order of its blocks.
struct Search {
  Table<BlockEdge> back_edges;  // close loops
  Table<int> preds;  // by block: the number of its predecessors
  int edges = 0;  // the sum of `preds`
};

// Fills `order` and `order_index` by a depth-first search, and marks the headers of loops. The jump of a block is
// visited first, so that the block to which control falls through comes first in reverse postorder.
Search find_order(Cfg& cfg) {
  constexpr int fresh = -1, open = -2;  // values in `order_index` of blocks that have no index yet
  const int count = int(cfg.blocks.size());
  Search search;
  search.preds.resize(count);
  cfg.order.resize(count), cfg.order_index.assign(count, fresh);
  const Row<BasicBlock, BlockIndex> blocks(cfg.blocks);
  const Row<int, BlockIndex> preds(search.preds), states(cfg.order_index);
  const Row<BlockIndex> order(cfg.order);
  struct Visit {
    BlockIndex block;
    std::array<BlockIndex, 2> edges;  // the edges that remain to be followed, in reverse order
    int left;                         // the number of edges that remain
  };
  Table<Visit> stack(count);  // a block is visited once
  int depth = 0, first = count;
  const auto enter = [&](BlockIndex block) {
    states[block] = open;
    Visit& visit = stack[depth++];
    visit.block = block, visit.left = 0;
    const BlockIndex next = blocks[block].next, jump = blocks[block].jump;
    if (next >= 0) ++preds[next], ++search.edges, visit.edges[0] = next, visit.left = 1;
    if (jump < 0) return;
    if (jump != next) ++preds[jump], ++search.edges;
    visit.edges[std::size_t(visit.left++)] = jump;
  };
  enter(cfg.entry);
  while (depth > 0) {
    Visit& visit = stack[depth - 1];
    if (visit.left == 0) {
      order[--first] = visit.block, states[visit.block] = first;
      --depth;
      continue;
    }
    const BlockIndex to = visit.edges[std::size_t(--visit.left)];
    if (states[to] == fresh) enter(to);
    else if (states[to] == open) search.back_edges.push_back({visit.block, to}), blocks[to].is_loop_header = true;
  }
  // Unreachable blocks are not part of the order.
  if (first == 0) return search;
  cfg.order.erase(cfg.order.begin(), cfg.order.begin() + first);
  for (const BlockIndex block : cfg.order) states[block] -= first;
  return search;
}

// Fills `preds` of all blocks.
void find_preds(Cfg& cfg, Search& search) {
  cfg.pred_lists.resize(search.edges);
  const Row<BlockIndex> lists(cfg.pred_lists);
  Table<int>& place = search.preds;  // becomes, by block: the index in `lists` of the next predecessor
  int first = 0, index = 0;
  for (BasicBlock& block : cfg.blocks) {
    block.preds = Row<const BlockIndex>(lists).part(first, place[index]);
    first += std::exchange(place[index++], first);
  }
  for (const BlockIndex from : cfg.order) {
    const BasicBlock& block = cfg.blocks[from];
    if (block.next >= 0) lists[place[block.next]++] = from;
    if (block.jump >= 0 && block.jump != block.next) lists[place[block.jump]++] = from;
  }
}

// True if some loop can be entered other than at its header, i.e. if the target of one of `back_edges` does not
// dominate the source of that edge.
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
  find_preds(cfg, search);
  cfg.irreducible = has_second_entry(cfg, search.back_edges);
}

Cfg build_cfg(const DecodedCode& decoded, GraphForm form) {
  Cfg cfg;
  build_cfg(decoded, find_turns(decoded.instructions), form, cfg);
  return cfg;
}

void build_cfg(const DecodedCode& decoded, Turns turns, GraphForm form, Cfg& cfg) {
  const bool structured = form != GraphForm::instructions;
  cfg.code = WorkingCode(decoded.instructions), cfg.ops = turns.ops;
  Table<ProtectedRange> ranges = decoded.ranges;
  const SurveyedOps& ops = cfg.ops;
  const bool has_copies = simplify_idioms(decoded, ops, turns.jumps, cfg.code, ranges);
  // An inlined comprehension that hides a local variable (LOAD_FAST_AND_CLEAR) cannot be written as other Python code,
  // so it is outlined even for `GraphForm::instructions`.
  if (ops.has<Op::swap_>() && (structured || ops.has<Op::load_fast_and_clear_>()))
    outline_comprehensions(decoded, cfg.code, ranges, cfg.comprehensions);
  if (structured) {
    if (ops.has<Op::check_eg_match_>()) simplify_except_star(cfg.code, ranges);
    if (has_copies || ops.has<Op::match_sequence_, Op::match_mapping_, Op::match_class_>())
      find_matches(decoded, cfg.code, cfg.patterns);
  }
  // Most code objects consist of one basic block.
  if (is_straight(cfg, turns.jumps, ranges)) {
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
      // The target of a reraise only records which code follows it in the source; control does not go there.
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
