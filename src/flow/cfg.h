// The control flow graph of a code object, with its exception regions as one tree.
#pragma once

#include <cstdint>

#include "decode/instruction.h"
#include "flow/comprehensions.h"
#include "flow/indices.h"
#include "flow/match_patterns.h"
#include "flow/numbers.h"
#include "flow/surveyed_ops.h"
#include "support/table.h"

namespace depyf {

struct Turns;  // see flow/jumps.h

// A region is a part of the code that one exception handler covers: the body of a try or with statement, or the code of
// a handler.
struct Region {
  enum class Kind : std::uint8_t { try_except, try_finally, with, handler };
  Kind kind = Kind::try_except;
  bool lasti = false, is_async = false, is_star = false;
  // True for a `try`-`finally` of 3.8: each exit from the body calls the finally clause instead of containing a copy of
  // it.
  bool called = false;
  RegionIndex parent;
  // The first instruction of the region's handler. The handler of a region of kind `handler` is the cleanup COPY 3;
  // POP_EXCEPT; RERAISE.
  InstructionIndex handler_at;
  // The instruction where control continues if a with statement suppresses an exception; -1 for regions of other kinds.
  InstructionIndex follow_at;
  // The depth of the operand stack when the handler starts, without the exception.
  int depth = 0;
  BlockIndex setup;  // the setup block that enters the region
  BlockIndex handler;  // the block that starts the handler
};

// A block of kind `code` holds instructions. A block of kind `setup` is empty: its `next` enters the body of a region,
// and its `jump` leads to the handler of the region. For a with statement, the `jump` of the setup block leads to the
// code that runs after a suppressed exception.
struct BasicBlock {
  enum class Kind : std::uint8_t { code, setup };
  Kind kind = Kind::code;
  InstructionIndex begin = 0, end = 0;  // the block holds the instructions [begin, end)
  // The successors: `next` is reached by falling through or by an unconditional jump, `jump` by a conditional jump. A
  // successor that the block does not have is -1.
  BlockIndex next, jump;
  RegionIndex region;  // the innermost region around the block, or -1 outside of all regions
  RegionIndex setup_of;  // the region that a block of kind `setup` enters; -1 for a block of kind `code`
  bool is_loop_header = false;  // true if a back edge leads to the block
  // The predecessors without duplicates, as a slice of `Cfg::pred_lists`.
  Row<const BlockIndex> preds;
};

// The control flow graph of one code object, with its regions and block order.
struct Cfg {
  Cfg() = default;
  // A graph is not copied, because its blocks hold spans of `pred_lists`.
  Cfg(Cfg&&) = default;
  Cfg& operator=(Cfg&&) = default;

  Instructions code;  // rewritten by `simplify_idioms` and later passes
  SurveyedOps ops;  // the operations that occurred in the decoded code
  // The instructions that have a target, or had one before a pass removed it, in ascending order. Unreachable
  // instructions are included. The list is empty if the code is one basic block.
  Indices jumps;
  Table<CasePattern> patterns;  // the patterns of `case` clauses, indexed by the argument of match_case
  Table<InlinedComprehension> comprehensions;  // indexed by the argument of the operation `comprehension`
  // Maps each instruction to the innermost region around it, or to -1 outside of all regions. The table is empty if the
  // code is one basic block.
  Table<RegionIndex, InstructionIndex> region_of;
  Table<BasicBlock, BlockIndex> blocks;  // the blocks that can be reached
  Table<Region, RegionIndex> regions;
  // The concatenated lists of predecessors of all blocks.
  Table<BlockIndex> pred_lists;
  Table<BlockIndex> order;  // blocks in reverse postorder
  Table<int, BlockIndex> order_index;  // the index of each block in `order`
  BlockIndex entry = 0;
  bool irreducible = false;  // true if some loop has more than one entry
  // True if the exception regions have a shape that no statement of Python compiles to.
  bool odd_regions = false;
  // True if the graph depends on a guess: exits of the function were joined because the compiler probably copied them
  // from one statement, or equal exits were kept apart although they may be copies.
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

// Selects whether a graph represents the statements of the source or single instructions.
enum class GraphForm : std::uint8_t {
  // Exception ranges become the regions of statements, copies of finally bodies are jumped over, and exits of the
  // function are joined if their source positions prove that they are copies of one statement.
  statements,
  // Like `statements`, but no exits of the function are joined.
  statements_with_ends_apart,
  // Like `statements`, but equal exits of the function are also joined if their source positions do not decide whether
  // the exits are copies of one statement.
  statements_with_ends_joined,
  // Exception ranges are not assigned to statements: each handler gets one region of kind try_except.
  instructions,
};

Cfg build_cfg(const DecodedCode& decoded, GraphForm form);
// Builds the graph of `decoded` in `cfg`, which must be empty. `turns` must be the result of `find_turns` for the
// instructions of `decoded`; this overload is for callers that also use `turns` for another purpose.
void build_cfg(const DecodedCode& decoded, Turns turns, GraphForm form, Cfg& cfg);

// Fills in the reverse postorder, the predecessors and `irreducible`. No blocks are removed.
void analyse(Cfg& cfg);

}  // namespace depyf
