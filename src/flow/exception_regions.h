// Turns exception ranges into a tree of regions: the bodies of try and with statements, and handlers.
#pragma once
#include "flow/cfg.h"
#include "flow/jumps.h"
#include "support/table.h"
namespace depyf {

// The control flow between the instructions of a code object. `next` differs from the following instruction where a
// copy of a finally body is jumped over.
struct Flow {
  // Maps each instruction to the instruction that control falls through to, or -1 if it does not fall through.
  Table<InstructionIndex, InstructionIndex> next;
  // The instructions with a jump target, in ascending order; passes may have removed the targets of some of them.
  Jumps jumps;
  // The instructions for which `next` is not the instruction behind them, in ascending order.
  Table<InstructionIndex> stops;
};

// Fills `cfg.regions` and `cfg.region_of` from `ranges`, whose handlers must have the shapes of 3.11 and later. Element
// i of `reachable` is nonzero if instruction i can be reached.
void build_regions(Cfg& cfg, const Table<ProtectedRange>& ranges, const Flow& flow, const Table<char>& reachable);

// Compares the code at each exit of a region of kind try_finally with the finally body in its handler. If the code at
// all exits is a copy of the finally body, the copies are jumped over. If the code at some exit is no copy of the
// finally body, the region becomes a try_except whose handler catches every exception and raises it again.
void remove_finally_copies(Cfg& cfg, Flow& flow, const Table<char>& reachable, const DecodedCode& decoded);

// Maps each instruction where a copy starts to the start of its original, and other instructions to -1. The table is
// empty if the code has no copies.
using Originals = Table<InstructionIndex, InstructionIndex>;

struct ExitGuess {
  Originals original;
  // True if some exits of the function are equal whole statements, and source positions do not show whether they are
  // copies.
  bool is_unsure = false;
};

// Finds the copies that the compiler made of code that leaves the function. `exits` contains the reachable instructions
// that leave the function, in ascending order. If `joins_unsure` is set, exits that may or may not be copies are
// treated as copies.
ExitGuess find_exit_copies(const Cfg& cfg, const Flow& flow, const Table<InstructionIndex>& exits,
                           const Table<char>& reachable, const DecodedCode& decoded, bool joins_unsure);

// Adds to `original` the copies of exits that follow a test within one expression or statement, such as `return a if c
// else b`.
void join_ends(const Cfg& cfg, const Flow& flow, const Table<char>& reachable, const DecodedCode& decoded,
               Originals& original);

}  // namespace depyf
