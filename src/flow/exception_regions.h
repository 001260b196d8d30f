// Turns exception ranges into the tree of regions that statements of Python make.
#pragma once
#include "decode/op.h"
#include "decode/op_table.h"
#include "flow/cfg.h"
#include "flow/jumps.h"
#include "support/table.h"
namespace depyf {

// Where control goes in a code object. `next` differs from the following instruction where a copy of a finally body is
// jumped over.
struct Flow {
  // By instruction: the instruction that control falls through to, or -1 if it does not fall through.
  Table<InstructionIndex, InstructionIndex> next;
  // The instructions with a target, and possibly some that have lost it, in ascending order.
  Jumps jumps;
  // The instructions for which `next` is not the instruction behind them, in ascending order.
  Table<InstructionIndex> stops;
};

inline constexpr OpTable<bool> falling_ops(
    true, {{{Op::jump_, Op::return_value_, Op::raise_, Op::reraise_, Op::end_async_for_, Op::unreachable_}, false}});

// True if control may go on with the next instruction after `op`.
constexpr bool falls_through(Op op) { return falling_ops[op]; }

// Fills `cfg.regions` and `cfg.region_of` from `ranges`, whose handlers must have the shapes of 3.11 and later. Element
// i of `reachable` is nonzero if instruction i can be reached.
void build_regions(Cfg& cfg, const Table<ProtectedRange>& ranges, const Flow& flow, const Table<char>& reachable);

// Compares each way out of a region of kind try_finally with the finally body in its handler. If all are copies of the
// body, they are jumped over. If one is not, the region becomes a try_except whose handler catches everything and
// raises it again.
void remove_finally_copies(Cfg& cfg, Flow& flow, const Table<char>& reachable, const DecodedCode& decoded);

// By instruction: the original of the copy that starts there, or -1 if none does. Empty if the code has no copies.
using Originals = Table<InstructionIndex, InstructionIndex>;

struct ExitGuess {
  Originals original;
  // True if some ends are equal whole statements, and the positions do not tell whether they are copies.
  bool is_unsure = false;
};

// Finds the copies of code that leaves the function. `exits` holds the instructions that leave it and can be reached, in
// ascending order. Ends that may or may not be copies are taken for copies if `joins_unsure` is set.
ExitGuess find_exit_copies(const Cfg& cfg, const Flow& flow, const Table<InstructionIndex>& exits,
                           const Table<char>& reachable, const DecodedCode& decoded, bool joins_unsure);

// Adds to `original` the copies of ends that a test within one expression or statement leads to.
void join_ends(const Cfg& cfg, const Flow& flow, const Table<char>& reachable, const DecodedCode& decoded,
               Originals& original);

}  // namespace depyf
