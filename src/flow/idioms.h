// Instruction sequences that stand for one operation of the language become that operation, the rest nop.
#pragma once
#include <vector>
#include "decode/instruction.h"
namespace depyf {
// await and yield from (GET_AWAITABLE or GET_YIELD_FROM_ITER, LOAD_CONST None, the loop around SEND) -> yield_from;
// async for (GET_ANEXT, its await, END_ASYNC_FOR as handler) -> for_iter with aux 2;
// the start of a generator (RETURN_GENERATOR, POP_TOP) -> nop;
// COPY 1, POP_JUMP_IF_x, POP_TOP (3.12 and later) -> jump_if_x_or_pop.
// DUP_TOP, ROT_THREE (to 3.10) -> SWAP 2, COPY 2; ROT_THREE, ROT_TWO -> SWAP 3; LOAD_CONST None, DUP_TOP, DUP_TOP, CALL_FUNCTION 3 (3.9, 3.10) -> with_exit.
// Ranges that exist for them alone are removed. `ops`: those of `code`.
void simplify_idioms(const DecodedCode& decoded, const OpSet& ops, std::vector<Instruction>& code,
                     std::vector<ProtectedRange>& ranges);
}  // namespace depyf
