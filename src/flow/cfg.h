// The control flow graph of a code object, with its exception regions as one tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/instruction.h"
#include "flow/comprehensions.h"
#include "flow/match_patterns.h"

namespace depyf {

// A lexical scope that exceptions give to the code: the body of a try or with statement, or a handler.
struct Region {
  enum class Kind : std::uint8_t { try_except, try_finally, with, handler };
  Kind kind = Kind::try_except;
  bool lasti = false, is_async = false, is_star = false;
  bool called = false;  // try_finally of 3.8: the ways out hold no copies of its body
  int parent = -1;       // region; -1: none
  int handler_at = -1;   // instruction that starts the handler; of `handler` regions: none
  int follow_at = -1;    // with: instruction where control goes on after a suppressed exception
  int depth = 0;         // of the stack when the handler starts, the exception not counted
  int setup = -1;        // block
  int handler = -1;      // block
};

struct BasicBlock {
  enum class Kind : std::uint8_t {
    code,
    setup
  };  // setup: enters a region; next: its body, jump: its handler (with: what follows)
  Kind kind = Kind::code;
  int begin = 0, end = 0;      // instructions [begin, end)
  int next = -1, jump = -1;    // successors: falling through or only; jumping
  int region = -1;             // innermost
  int setup_of = -1;           // region
  std::span<const int> preds;  // each once; part of `pred_lists` of the graph
};

struct Cfg {
  Cfg() = default;
  Cfg(Cfg&&) = default;  // not copied: blocks hold parts of it
  Cfg& operator=(Cfg&&) = default;

  std::vector<Instruction> code;   // normalised by `simplify_idioms`
  OpSet ops;                       // of the code as it was decoded
  std::vector<CasePattern> patterns;  // of match_case
  std::vector<InlinedComprehension> comprehensions;  // of comprehension
  std::vector<int> region_of;      // by instruction
  std::vector<BasicBlock> blocks;       // those that can be reached
  std::vector<Region> regions;
  std::vector<int> pred_lists;     // of one block after the other
  std::vector<int> order;          // blocks in reverse postorder
  std::vector<int> order_index;    // by block
  std::vector<int> idom;           // by block; of the entry: itself
  int entry = 0;
  bool irreducible = false;        // some loop has more than one entry
  bool odd_regions = false;        // exception regions that no statement of Python makes

  bool inside(int region, int outer) const {  // is `region` `outer` or within it? -1 is the whole function
    while (region != outer && region >= 0) region = regions[region].parent;
    return region == outer;
  }
  int around(int region, int other) const {  // the innermost one that both are within
    while (!inside(other, region)) region = regions[region].parent;
    return region;
  }
  bool dominates(int a, int b) const {
    while (order_index[b] > order_index[a]) b = idom[b];
    return a == b;
  }
  bool is_back_edge(int from, int to) const { return order_index[to] <= order_index[from]; }
};

// The graph of `decoded`. `structured`: recognise statements in exception tables and undo copies of finally bodies;
// otherwise ranges are kept as they are (regions of kind try_except, one a handler).
Cfg build_cfg(const DecodedCode& decoded, bool structured);

// Reverse postorder, predecessors, immediate dominators; drops nothing.
void analyse(Cfg& cfg);

}  // namespace depyf
