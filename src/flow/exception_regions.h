// Turns exception ranges into the tree of regions that statements of Python make.
#pragma once
#include "decode/op.h"
#include "flow/cfg.h"
#include "support/table.h"
namespace depyf {

// Where control goes, apart from jumps. `next` differs from the following instruction where a copy of a finally body is
// jumped over.
struct Flow {
  // By instruction: the instruction that control falls through to, or -1 if it does not fall through.
  Table<InstructionIndex, InstructionIndex> next;
};

// True if control may go on with the next instruction after `op`.
constexpr bool falls_through(Op op) {
  return op != Op::jump_ && !leaves_function(op) && op != Op::end_async_for_ && op != Op::unreachable_;
}

// Fills `cfg.regions` and `cfg.region_of` from `ranges`, whose handlers must have the shapes of 3.11 and later. Element
// i of `reachable` is nonzero if instruction i can be reached.
void build_regions(Cfg& cfg, const Table<ProtectedRange>& ranges, const Table<char>& reachable);

// Compares each way out of a region of kind try_finally with the finally body in its handler. If all are copies of the
// body, they are jumped over. If one is not, the region becomes a try_except whose handler catches everything and
// raises it again.
void remove_finally_copies(Cfg& cfg, Flow& flow, const Table<char>& reachable, const DecodedCode& decoded);

// By instruction: the original of the copy that starts there, or -1 if none does. Empty if the code has no copies.
using Originals = Table<InstructionIndex, InstructionIndex>;

// Finds the copies of code that leaves the function.
Originals find_exit_copies(const Cfg& cfg, const Flow& flow, const Table<char>& reachable, const DecodedCode& decoded);

// Adds to `original` the copies of ends that a test within one expression or statement leads to.
void join_ends(const Cfg& cfg, const Flow& flow, const Table<char>& reachable, const DecodedCode& decoded,
               Originals& original);

}  // namespace depyf
