// The control flow graph of a code object, with its exception regions as one tree.
#pragma once

#include <cstdint>

#include "decode/instruction.h"
#include "flow/comprehensions.h"
#include "flow/match_patterns.h"
#include "flow/numbers.h"
#include "support/table.h"

namespace depyf {

// A region is a lexical scope that exceptions give to the code: the body of a try or with statement, or a handler.
struct Region {
  enum class Kind : std::uint8_t { try_except, try_finally, with, handler };
  Kind kind = Kind::try_except;
  bool lasti = false, is_async = false, is_star = false;
  // True for a `try`-`finally` of 3.8: each way out calls the finally clause instead of holding a copy of it.
  bool called = false;
  RegionIndex parent;
  // The instruction that starts the handler; -1 for a region of kind `handler`.
  InstructionIndex handler_at;
  // For `with`: the instruction where control goes on after a suppressed exception; otherwise -1.
  InstructionIndex follow_at;
  // The depth of the operand stack when the handler starts, without the exception.
  int depth = 0;
  BlockIndex setup;  // enters the region
  BlockIndex handler;  // starts the handler
};

// A block of kind `code` holds instructions. A block of kind `setup` is empty: its `next` enters the body of a region,
// and its `jump` leads to the handler of the region (for `with`: to the code after a suppressed exception).
struct BasicBlock {
  enum class Kind : std::uint8_t { code, setup };
  Kind kind = Kind::code;
  InstructionIndex begin = 0, end = 0;  // instructions [begin, end)
  // The successors: `next` is reached by falling through or by an unconditional jump, `jump` by a conditional one; -1
  // if there is none.
  BlockIndex next, jump;
  RegionIndex region;  // the innermost region around the block, or -1
  RegionIndex setup_of;  // for `setup`: the region that it enters
  bool is_loop_header = false;  // a back edge leads to the block
  // The predecessors, each once: a part of `Cfg::pred_lists`.
  Row<const BlockIndex> preds;
};

// The control flow graph of one code object, with its regions and block order.
struct Cfg {
  Cfg() = default;
  // A graph is not copied, because its blocks hold spans of `pred_lists`.
  Cfg(Cfg&&) = default;
  Cfg& operator=(Cfg&&) = default;

  Table<Instruction, InstructionIndex> code;  // rewritten by `simplify_idioms` and the passes behind it
  OpSet ops;  // the operations that occurred in the decoded code
  Table<CasePattern> patterns;  // indexed by the argument of match_case
  Table<InlinedComprehension> comprehensions;  // indexed by the argument of comprehension
  // By instruction: the innermost region, or -1. Empty if the code is straight.
  Table<RegionIndex, InstructionIndex> region_of;
  Table<BasicBlock, BlockIndex> blocks;  // only blocks that can be reached
  Table<Region, RegionIndex> regions;
  // The predecessors of all blocks, one list behind the other.
  Table<BlockIndex> pred_lists;
  Table<BlockIndex> order;  // blocks in reverse postorder
  Table<int, BlockIndex> order_index;  // by block
  BlockIndex entry = 0;
  bool irreducible = false;  // true if some loop has more than one entry
  // True if the exception regions have a shape that no statement of Python compiles to.
  bool odd_regions = false;
  // True if some ends of the function are equal, and may be copies of one end or not.
  bool has_guessed_ends = false;

  // True if `region` is `outer` or lies within it. Region -1 is the whole function.
  bool inside(RegionIndex region, RegionIndex outer) const {
    while (region != outer && region >= 0) region = regions[region].parent;
    return region == outer;
  }
  // Returns the innermost region that both `region` and `other` lie within, or -1.
  RegionIndex around(RegionIndex region, RegionIndex other) const {
    while (!inside(other, region)) region = regions[region].parent;
    return region;
  }
  // True if `to` does not come after `from` in reverse postorder, so that the edge closes a loop.
  bool is_back_edge(BlockIndex from, BlockIndex to) const { return order_index[to] <= order_index[from]; }
};

// How much of the source's statements a graph shows.
enum class GraphForm : std::uint8_t {
  // Exception ranges become the regions of statements, copies of finally bodies are jumped over, and ends of the function
  // are joined that are copies of one end, as far as positions show it.
  statements,
  // The same, but all ends of the function stay apart, or those are joined as well about which positions tell nothing.
  statements_with_ends_apart,
  statements_with_ends_joined,
  // The exception ranges are kept as they are: each handler gives one region of kind try_except.
  instructions,
};

Cfg build_cfg(const DecodedCode& decoded, GraphForm form);

// Fills in reverse postorder, predecessors and `irreducible`. Removes no block.
void analyse(Cfg& cfg);

}  // namespace depyf
