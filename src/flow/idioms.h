// Replaces instruction sequences that stand for one operation of the language by that operation.
#pragma once
#include "decode/instruction.h"
#include "flow/jumps.h"
#include "flow/surveyed_ops.h"
#include "support/table.h"
namespace depyf {
// Replaces instruction sequences that stand for one operation of the language by that operation and NOPs. `ops`
// contains the operations that occur in `code`, and `jumps` the instructions with a jump target. Exception ranges that
// exist only for a replaced sequence are removed.
//
//   await, yield from     GET_AWAITABLE or GET_YIELD_FROM_ITER; LOAD_CONST None;
//                         the loop around SEND                                      -> yield_from
//   async for             GET_ANEXT; its await; END_ASYNC_FOR as the handler        -> for_iter with aux 2
//   start of a generator  RETURN_GENERATOR; POP_TOP                                 -> nop
//   `and`, `or`           COPY 1; POP_JUMP_IF_x; POP_TOP        (3.12, 3.13)        -> jump_if_x_or_pop
//   a < b < c             DUP_TOP; ROT_THREE                    (to 3.10)           -> SWAP 2; COPY 2
//   unpacking             ROT_THREE; ROT_TWO                    (to 3.10)           -> SWAP 3
//   end of `with`         LOAD_CONST None; DUP_TOP; DUP_TOP; CALL_FUNCTION 3  (3.9, 3.10)  -> with_exit
//
// Returns true if some COPY 1 may be left, since the code of a `case` starts with COPY 1.
bool simplify_idioms(const DecodedCode& decoded, const SurveyedOps& ops, const Jumps& jumps,
                     Row<Instruction, InstructionIndex> code, Table<ProtectedRange>& ranges);
}  // namespace depyf
