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
//   `await` (GET_AWAITABLE) and `yield from` (GET_YIELD_FROM_ITER) have a loop around SEND behind LOAD_CONST None.
//   The loop around the SEND of `await` and `yield from` becomes yield_from.
//   In `async for`, GET_ANEXT and its await become for_iter with aux 2 if their handler is END_ASYNC_FOR.
//   At the start of a generator, RETURN_GENERATOR; POP_TOP becomes nop.
//   In `and` and `or` (from 3.12 on), COPY 1; POP_JUMP_IF_x; POP_TOP becomes jump_if_x_or_pop.
//   In `a < b < c` (to 3.10), DUP_TOP; ROT_THREE becomes SWAP 2; COPY 2.
//   In unpackings (to 3.10), ROT_THREE; ROT_TWO becomes SWAP 3.
//   At the end of `with` (3.9, 3.10), LOAD_CONST None; DUP_TOP; DUP_TOP; CALL_FUNCTION 3 becomes with_exit.
//
// Returns false if the rewritten code contains no COPY 1, with which the code of most `case` blocks starts. Returns
// true if the rewritten code may contain a COPY 1.
bool simplify_idioms(const DecodedCode& decoded, const SurveyedOps& ops, const Jumps& jumps,
                     Row<Instruction, InstructionIndex> code, Table<ProtectedRange>& ranges);
}  // namespace depyf
