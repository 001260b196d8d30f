// The control flow graph of a code object, with its exception regions as one tree.
#pragma once

#include <cstdint>

#include "decode/instruction.h"
#include "flow/comprehensions.h"
#include "flow/match_patterns.h"
#include "flow/numbers.h"
#include "flow/surveyed_ops.h"
#include "flow/working_code.h"
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
  // The first instruction of the region's handler; for a region of kind `handler`, it is the cleanup COPY 3;
  // POP_EXCEPT; RERAISE.
  InstructionIndex handler_at;
  // For `with`: the instruction where control continues after a suppressed exception; otherwise -1.
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
  // The predecessors without duplicates, as a slice of `Cfg::pred_lists`.
  Row<const BlockIndex> preds;
};

// The control flow graph of one code object, with its regions and block order.
struct Cfg {
  Cfg() = default;
  // A graph is not copied, because its blocks hold spans of `pred_lists`.
  Cfg(Cfg&&) = default;
  Cfg& operator=(Cfg&&) = default;

  WorkingCode code;  // rewritten by `simplify_idioms` and later passes
  SurveyedOps ops;  // the operations that occurred in the decoded code
  // The instructions that have a target, or had one before a pass removed it, in ascending order. Unreachable
  // instructions are included. The list is empty if the code is one basic block.
  Table<InstructionIndex> jumps;
  Table<CasePattern> patterns;  // indexed by the argument of match_case
  Table<InlinedComprehension> comprehensions;  // indexed by the argument of comprehension
  // Maps each instruction to the innermost region around it, or -1; empty if the code is one basic block.
  Table<RegionIndex, InstructionIndex> region_of;
  Table<BasicBlock, BlockIndex> blocks;  // the blocks that can be reached
  Table<Region, RegionIndex> regions;
  // The concatenated lists of predecessors of all blocks.
  Table<BlockIndex> pred_lists;
  Table<BlockIndex> order;  // blocks in reverse postorder
  Table<int, BlockIndex> order_index;  // by block
  BlockIndex entry = 0;
  bool irreducible = false;  // true if some loop has more than one entry
  // True if the exception regions have a shape that no statement of Python compiles to.
  bool odd_regions = false;
  // True if the function has equal exits, and it was guessed whether the equal exits are copies that the compiler
  // made of one statement.
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

// How far a graph is raised from single instructions to the statements of the source.
enum class GraphForm : std::uint8_t {
  // Exception ranges become the regions of statements, copies of finally bodies are jumped over, and exits of the
  // function are joined if source positions show that they are copies of one statement.
  statements,
  // Like `statements`, but either all exits of the function stay apart, or equal exits are also joined if source
  // positions do not show whether they are copies.
  statements_with_ends_apart,
  statements_with_ends_joined,
  // Exception ranges are not assigned to statements: each handler gets one region of kind try_except.
  instructions,
};

Cfg build_cfg(const DecodedCode& decoded, GraphForm form);
// Builds the same graph in `cfg`, which must be empty. `turns` must be the result of `find_turns` for the instructions
// of `decoded`; this overload is for callers that also need it for another purpose.
void build_cfg(const DecodedCode& decoded, Turns turns, GraphForm form, Cfg& cfg);

// Fills in the reverse postorder, the predecessors and `irreducible`. Does not remove blocks.
void analyse(Cfg& cfg);

}  // namespace depyf
