// Turns exception ranges into a tree of regions: the bodies of try and with statements, and handlers.
#pragma once
#include "flow/cfg.h"
#include "flow/jumps.h"
#include "support/table.h"
namespace depyf {

// The control flow between the instructions of a code object. If an instruction falls through into a copy of a finally
// body that is skipped, `next` maps the instruction to the code behind the copy.
struct Flow {
  // Maps each instruction to the instruction that control falls through to, or -1 if it does not fall through.
  Table<InstructionIndex, InstructionIndex> next;
  // The instructions with a jump target, in ascending order; passes may have removed the targets of some of them.
  Jumps jumps;
  // The instructions for which `next` is not the instruction behind them, in ascending order.
  Indices stops;
};

// Fills `cfg.regions` and `cfg.region_of` from `ranges`, whose handlers must have the shapes of 3.11 and later. Element
// i of `reachable` is nonzero if instruction i can be reached.
void build_regions(Cfg& cfg, const Table<ProtectedRange>& ranges, const Flow& flow, const Table<char>& reachable);

// Compares the code at each exit of a region of kind try_finally with the finally body in its handler. If the code at
// each exit is a copy of the finally body, the edges to the copies are redirected to the code behind the copies. If the
// code at some exit is no copy of the finally body, the region becomes a try_except whose handler catches every
// exception and raises it again.
void remove_finally_copies(Cfg& cfg, Flow& flow, const Table<char>& reachable, const DecodedCode& decoded);

// Maps each instruction where a copy of a function's exit starts to the start of the original exit, and all other
// instructions to -1. The table is empty if the code contains no copy of an exit.
using Originals = Table<InstructionIndex, InstructionIndex>;

struct ExitGuess {
  Originals original;
  // True if some exits of the function are equal whole statements, and the source positions of the exits do not decide
  // whether the exits are copies.
  bool is_unsure = false;
};

// Finds the copies that the compiler made of code that leaves the function. `exits` contains the reachable instructions
// that leave the function, in ascending order. If `joins_unsure` is set, exits that may or may not be copies are
// treated as copies.
ExitGuess find_exit_copies(const Cfg& cfg, const Flow& flow, const Indices& exits, const Table<char>& reachable,
                           const DecodedCode& decoded, bool joins_unsure);

// Adds to `original` the copies of exits that follow a test within one expression or statement, such as `return a if c
// else b`.
void join_ends(const Cfg& cfg, const Flow& flow, const Table<char>& reachable, const DecodedCode& decoded,
               Originals& original);

}  // namespace depyf
